// A sandbox to test against, and plain HTTP calls to it.

import http from 'node:http';
import { type Sandbox, startSandbox } from '../../../src/upstream/sandbox/sandbox.ts';

const CATALOG = {
  models: [
    {
      id: 'test/plain',
      name: 'Plain',
      context_length: 2000,
      max_output_tokens: 500,
      created: 1_700_000_000,
      input_modalities: ['text'],
      supported_parameters: ['max_tokens'],
      pricing: { prompt: '0.000001', completion: '0.000002' },
    },
    {
      id: 'test/all',
      name: 'All',
      context_length: 200_000,
      input_modalities: ['text', 'image', 'file'],
      supported_parameters: ['tools', 'tool_choice', 'response_format'],
      pricing: {
        prompt: '0.000003',
        completion: '0.000015',
        input_cache_read: '0.0000003',
        request: '0.01',
        image: '0.001',
        overrides: [{ min_prompt_tokens: 3000, prompt: '0.000006' }],
      },
      tokens_per_second: 100,
      ttft_ms: 700,
      expiration_date: '2030-01-01',
    },
    { id: 'test/bare' },
    { name: 'no id' },
  ],
};

export function startTestSandbox(paceScale = 0): Promise<Sandbox> {
  return startSandbox({ catalogJson: CATALOG, paceScale, now: () => 1_800_000_000_500 });
}

export type Answered = {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** How the body came to its end. */
  readonly end: 'whole' | 'broken';
};

/** Sends a body and reads until the end, be it proper or not; `onData` may abort by returning true. */
export function call(url: string, body: unknown, onData?: (text: string) => boolean): Promise<Answered> {
  return new Promise((resolve, reject) => {
    let answered = false;
    const request = http.request(`${url}/chat/completions`, { method: 'POST', agent: false }, (response) => {
      answered = true;
      let text = '';
      const done = (end: Answered['end']): void =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, end });
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (onData?.(text) === true) request.destroy();
      });
      response.on('end', () => done('whole'));
      response.on('error', () => done('broken'));
    });
    // Node 24 reports a reset here too, before the response says it.
    request.on('error', (error) => {
      if (!answered) reject(error);
    });
    request.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
export type Json = any;

export function parse(answered: Answered): Json {
  return JSON.parse(answered.text);
}

/** The JSON events of a stream, and whether it ended with `[DONE]`. */
export function readEvents(text: string): { readonly events: Json[]; readonly done: boolean } {
  const lines = text.split('\n\n').filter((line) => line.startsWith('data: '));
  const done = lines.at(-1) === 'data: [DONE]';
  return { events: lines.filter((line) => line !== 'data: [DONE]').map((line) => JSON.parse(line.slice(6))), done };
}

/** Puts a stream's message back together. */
export function joinStream(events: readonly Json[]): { text: string; calls: Json[]; finish: unknown; usage: Json } {
  const joined = { text: '', calls: [] as Json[], finish: undefined as unknown, usage: undefined as Json };
  for (const event of events) {
    joined.usage = event.usage ?? joined.usage;
    const [choice] = event.choices;
    if (choice === undefined) continue;
    joined.text += choice.delta.content ?? '';
    joined.finish = choice.finish_reason ?? joined.finish;
    for (const delta of choice.delta.tool_calls ?? []) {
      joined.calls[delta.index] ??= {
        id: delta.id,
        type: delta.type,
        function: { name: delta.function.name, arguments: '' },
      };
      joined.calls[delta.index].function.arguments += delta.function.arguments;
    }
  }
  return joined;
}

export function user(content: unknown): Json[] {
  return [{ role: 'user', content }];
}

export function tool(
  name: string,
  description: string,
  properties: Json,
  required: string[] = Object.keys(properties),
) {
  return { type: 'function', function: { name, description, parameters: { type: 'object', properties, required } } };
}
