// The classifier: the contract's fixed rules, the shape of its answers, and that the shipped weights know the obvious.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClassifierWeights } from '../../src/routing/classifier-weights.ts';
import { complexityOf, createClassifier } from '../../src/routing/classify.ts';
import { COMPLEXITIES, DOMAINS, TASK_TYPES, type TaskType } from '../../src/routing/decision.ts';
import type { ContentPart, NeutralMessage, NeutralRequest, NeutralTool } from '../../src/wire/neutral.ts';

const path = new URL('../../config/classifier.bin', import.meta.url);
const classify = createClassifier(parseClassifierWeights(readFileSync(path)));

const image: ContentPart = { type: 'image', mediaType: 'image/png', data: 'AAAA' };
const text = (value: string): ContentPart => ({ type: 'text', text: value });
const user = (...content: ContentPart[]): NeutralMessage => ({ role: 'user', content });
const assistant = (value: string): NeutralMessage => ({ role: 'assistant', content: [text(value)] });
const called: NeutralMessage = {
  role: 'assistant',
  content: [{ type: 'tool_call', id: 'c1', name: 'Bash', arguments: '{}' }],
};
const result: NeutralMessage = { role: 'tool', toolCallId: 'c1', isError: false, content: [text('exit code 0')] };
const codeTools: readonly NeutralTool[] = [
  { name: 'Read', description: 'Reads a file' },
  { name: 'Edit', description: 'Edits a file' },
  { name: 'Bash', description: 'Runs a command' },
];
const mailTools: readonly NeutralTool[] = [
  { name: 'send_email', description: 'Send an email' },
  { name: 'get_weather', description: 'Current weather for a city' },
];

function request(messages: readonly NeutralMessage[], tools: readonly NeutralTool[] = []): NeutralRequest {
  return { dialect: 'chat', model: 'svc:auto', messages, tools, stream: false, includeUsage: false, choices: 1 };
}

const ask = (prompt: string, tools: readonly NeutralTool[] = []) => classify(request([user(text(prompt))], tools));

describe('the rules around the model', () => {
  it('call it agentic while a tool loop goes on, with confidence', () => {
    const said = classify(request([user(text('thanks, bye')), called, result], codeTools));
    expect(said).toMatchObject({ task_type: 'agentic', confidence: 0.98 });
    expect(said.signals['tool_loop']).toBe(1);
  });

  it('go on with the tool loop where the request offers no tools any more', () => {
    expect(classify(request([user(text('go')), called, result])).task_type).toBe('agentic');
  });

  it('call a bare image vision', () => {
    expect(classify(request([user(image)])).task_type).toBe('vision');
  });

  it('never say agentic without tools nor vision without an image', () => {
    const words = fc.constantFrom(
      'run',
      'send',
      'the',
      'image',
      'picture',
      'fix',
      'tests',
      'look',
      'email',
      'photo',
      'open',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), (prompt) => {
        expect(['agentic', 'vision']).not.toContain(ask(prompt.join(' ')).task_type);
      }),
      { numRuns: 60 },
    );
  });

  it('never say agentic when tools are switched off', () => {
    const off: NeutralRequest = {
      ...request([user(text('run the tests and fix what fails'))], codeTools),
      toolChoice: { type: 'none' },
    };
    expect(classify(off).task_type).not.toBe('agentic');
  });

  it.each<[string, TaskType]>([
    ['thanks, bye', 'chat'],
    ['explain this regex: ^[a-z]+\\d{2}$', 'coding'],
    ['run the tests and fix what fails', 'agentic'],
  ])('tell what "%s" asks for from the tools being there', (prompt, task) => {
    expect(ask(prompt, codeTools).task_type).toBe(task);
  });

  it('see a request to act in what the tools can do', () => {
    expect(ask("what's the weather in Bergen right now?", mailTools).task_type).toBe('agentic');
    expect(ask('send Tom an email that I am late', mailTools).task_type).toBe('agentic');
    expect(ask('translate "good evening" to Italian', mailTools).task_type).toBe('translation');
  });

  it('go by the last turn, not by an image further up', () => {
    const before = [user(image, text("what's this?")), assistant('A heron.')];
    expect(classify(request([...before, user(text('thanks!'))])).task_type).toBe('chat');
    expect(classify(request([user(image, text("what's in this picture?"))])).task_type).toBe('vision');
  });
});

describe('the shipped weights', () => {
  it.each<[string, TaskType]>([
    ['hello there!', 'chat'],
    ['write a python function that merges two sorted lists', 'coding'],
    ['TypeError: cannot read properties of undefined (reading "map")\n    at App (App.jsx:12:20)', 'coding'],
    ['solve x^2 - 5x + 6 = 0', 'math'],
    ['Prove that there are infinitely many primes congruent to 3 mod 4.', 'math'],
    ['write a short poem about the sea in winter', 'writing'],
    ['summarize the following article in two sentences: The council met on Monday...', 'summarization'],
    ['extract all dates and names from this text as JSON: Anna met Bob on 3 May 2021', 'extraction'],
    ['translate to German: where is the station?', 'translation'],
    ['traduis en anglais : il pleut', 'translation'],
    ['переведи на английский: доброе утро', 'translation'],
    ['what is the capital of Mongolia?', 'qa'],
    ['thanks a lot!', 'chat'],
  ])('know what is asked for: %s', (prompt, task) => {
    expect(ask(prompt).task_type).toBe(task);
  });

  it.each([
    ['What does the mitochondrion do in a cell?', 'biology'],
    ['Is a contract without consideration enforceable in court?', 'law'],
    ['Who won the battle of Waterloo and why did Napoleon lose the war?', 'history'],
    ['write a javascript function to reverse a string', 'computer_science'],
    ['what is the integral of sin x', 'math'],
    ['hey how are you', 'other'],
  ])('know the subject: %s', (prompt, domain) => {
    expect(ask(prompt).domain).toBe(domain);
  });

  it('find a greeting simple and a proof harder', () => {
    const easy = ask('hi!');
    const hard = ask(
      'Prove rigorously that the fundamental group of a compact manifold with positive Ricci curvature is finite.',
    );
    expect(easy.complexity).toBe('simple');
    expect(hard.complexity).not.toBe('simple');
    expect(hard.difficulty).toBeGreaterThan(easy.difficulty);
  });
});

describe('the answer', () => {
  const anyRequest = fc
    .record({
      prompt: fc.string({ unit: 'binary', maxLength: 2000 }),
      before: fc.string({ maxLength: 100 }),
      tools: fc.constantFrom(codeTools, mailTools, []),
      image: fc.boolean(),
    })
    .map(({ prompt, before, tools, image: seen }) =>
      request([user(text(before)), assistant(before), user(...(seen ? [image] : []), text(prompt))], tools),
    );

  it('has the contract’s values for any request', () => {
    fc.assert(
      fc.property(anyRequest, (given) => {
        const said = classify(given);
        expect(TASK_TYPES).toContain(said.task_type);
        expect(DOMAINS).toContain(said.domain);
        expect(COMPLEXITIES).toContain(said.complexity);
        expect(said.difficulty >= 0 && said.difficulty <= 1).toBe(true);
        expect(said.confidence > 0 && said.confidence <= 1).toBe(true);
        expect(said.complexity).toBe(complexityOf(said.difficulty));
        const signals = Object.values(said.signals);
        expect(signals.length).toBeLessThanOrEqual(15);
        expect(signals.every(Number.isFinite)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('is the same each time and does not depend on the request before', () => {
    fc.assert(
      fc.property(anyRequest, anyRequest, (one, other) => {
        const first = classify(one);
        classify(other);
        expect(classify(one)).toEqual(first);
      }),
      { numRuns: 40 },
    );
  });

  it('comes for odd requests too', () => {
    for (const messages of [[], [assistant('hi')], [user()], [user(text(''))], [result]]) {
      expect(TASK_TYPES).toContain(classify(request(messages)).task_type);
    }
  });

  it('shows counts, never text', () => {
    const said = ask('my secret is hunter2', mailTools);
    expect(said.signals).toMatchObject({ chars: 20, turns: 1, tools: 2, tool_loop: 0, image: 0 });
    expect(JSON.stringify(said)).not.toContain('hunter2');
  });

  it.each([
    [0, 'simple'],
    [0.333, 'simple'],
    [0.334, 'medium'],
    [0.666, 'medium'],
    [0.667, 'complex'],
    [1, 'complex'],
  ])('calls difficulty %d %s', (difficulty, complexity) => {
    expect(complexityOf(difficulty)).toBe(complexity);
  });
});
