// The words of the sandbox's answers: honest about what it is, different from prompt to prompt, the same for the same one.

import { describeImage } from './image-inspector.ts';
import { shorten } from './prompt-hints.ts';
import type { SandboxMessage, SandboxRequest } from './sandbox-request.ts';
import type { Random } from './seeded-random.ts';

const MAX_ECHO = 160;
const MAX_IMAGES_NAMED = 8;

export function writeAnswerText(request: SandboxRequest, random: Random): string {
  const sentences = [
    `This is the svc sandbox answering as ${request.model}; no real model was asked.`,
    ...echoLastTurn(request.messages),
  ];
  const filler = shuffled(FILLER, random);
  const wanted = wantedSentences(request.messages, random);
  for (let at = 0; at < wanted; at++) sentences.push(filler[at % filler.length] ?? '');
  return layOut(sentences);
}

/** What came last, said back: the person's words, a tool's result, the images and files with them. */
function echoLastTurn(messages: readonly SandboxMessage[]): string[] {
  const last = messages.findLast(({ role }) => role === 'user' || role === 'tool');
  if (last === undefined) return ['There was no message of a user to answer.'];
  const results = last.role === 'tool' ? trailingResults(messages) : [last];
  const verb = last.role === 'tool' ? 'The tool returned' : 'You wrote';
  const echoes = results.map(({ lastText }) =>
    lastText === '' ? `${verb} no text.` : `${verb}: “${shorten(lastText, MAX_ECHO)}”.`,
  );
  const images = results.flatMap((message) => message.images).slice(0, MAX_IMAGES_NAMED);
  const files = results.flatMap((message) => message.files).slice(0, MAX_IMAGES_NAMED);
  return [
    ...echoes,
    ...images.map(({ url }) => `There is ${describeImage(url)}.`),
    ...files.map((name) => `There is a file named ${shorten(name, MAX_ECHO)}.`),
  ];
}

/** Several results of one turn are all answered. */
function trailingResults(messages: readonly SandboxMessage[]): readonly SandboxMessage[] {
  const start = messages.findLastIndex(({ role }) => role !== 'tool' && role !== 'system');
  return messages.slice(start + 1).filter(({ role }) => role === 'tool');
}

/** Short questions get short answers; what asks for a text, or brings one, a longer one. */
function wantedSentences(messages: readonly SandboxMessage[], random: Random): number {
  const prompt = messages.findLast(({ role }) => role === 'user')?.lastText ?? '';
  const asksForText = /\b(?:write|explain|describe|essay|story|detail|compare|plan|report|code|implement)/i.test(
    prompt.slice(0, 2000),
  );
  if (asksForText) return 7 + Math.floor(random() * 6);
  return prompt.length > 200 ? 4 + Math.floor(random() * 4) : 1 + Math.floor(random() * 3);
}

/** Paragraphs of four sentences. */
function layOut(sentences: readonly string[]): string {
  return sentences.map((sentence, at) => (at === 0 ? sentence : `${at % 4 === 0 ? '\n\n' : ' '}${sentence}`)).join('');
}

function shuffled(items: readonly string[], random: Random): string[] {
  const left = items.slice();
  for (let at = left.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [left[at], left[other]] = [left[other] ?? '', left[at] ?? ''];
  }
  return left;
}

const FILLER: readonly string[] = [
  'The words are made from your request, so the same request gets the same answer every time.',
  'Routing, streaming, tools, usage and prices work here as they do with a real upstream.',
  'Nothing you send to the sandbox leaves this machine.',
  'To get real answers, set an upstream and its key; your clients need no change.',
  'The tokens of this answer are counted and charged at the prices of the catalogue.',
  'A field named sandbox in the request makes it fail in the way you ask for.',
  'If you send tools and ask for something they do, the sandbox calls them.',
  'If you ask for JSON that follows a schema, you get JSON that follows it.',
  'Repeating the beginning of a conversation shows up as cached tokens.',
  'The pace of this stream follows the speed the catalogue gives for the model.',
  'Ask for a decision with svc explain to see why this model was chosen.',
  'A real model would now say something about the matter itself.',
  'This sentence is here so that the answer has a believable length.',
  'Stopping the stream early is fine; only what was delivered is charged.',
];
