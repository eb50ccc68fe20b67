// Requests whose right price is known beforehand: the prompt carries a number, and the upstream bills by it.

import { chatAnswer, chatEvents, type FakeReply, type Piece, type RecordedRequest } from '../helpers/fake-upstream.ts';

/** What `test/cheap` costs, nano-dollars a token. */
const INPUT_NANO = 100;
const OUTPUT_NANO = 400;

export type Asked = {
  readonly number: number;
  readonly requestId: string;
  readonly status: number;
  readonly code: string;
  readonly retryAfter: string | null;
  /** The answer came to its proper end. */
  readonly whole: boolean;
};

export type Question = {
  readonly number: number;
  readonly stream?: boolean;
  readonly signal?: AbortSignal;
};

export function tokensOf(number: number): { readonly prompt_tokens: number; readonly completion_tokens: number } {
  return { prompt_tokens: 10 + (number % 7), completion_tokens: 5 + (number % 5) };
}

export function costNanoOf(number: number): number {
  const usage = tokensOf(number);
  return usage.prompt_tokens * INPUT_NANO + usage.completion_tokens * OUTPUT_NANO;
}

/** The number in a request's prompt. */
export function numberOf(request: RecordedRequest): number {
  return Number(/number-(\d+)/.exec(request.body.toString('utf8'))?.[1] ?? Number.NaN);
}

/** The upstream's answer; `pauseMs` waits before each event of a stream, or before the whole answer. */
export function billedAnswer(request: RecordedRequest, pauseMs = 0): FakeReply {
  const number = numberOf(request);
  const answer = { text: 'One two three four.', model: 'test/cheap', usage: tokensOf(number) };
  const { stream } = (request.json ?? {}) as { stream?: boolean };
  const wait = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pauseMs));
  if (stream !== true) return { json: chatAnswer(answer), ...(pauseMs > 0 ? { wait: wait() } : {}) };
  const pieces: Piece[] = chatEvents(answer).flatMap((event) => (pauseMs > 0 ? [pauseMs, event] : [event]));
  return { sse: pieces };
}

/** Never throws: a connection that breaks gives status 0. */
export async function ask(url: string, key: string, question: Question): Promise<Asked> {
  const { number, stream = false, signal } = question;
  const nothing = { number, requestId: '', status: 0, code: '', retryAfter: null, whole: false };
  let known: Omit<Asked, 'code' | 'whole'> = nothing;
  try {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: 'test/cheap',
        max_tokens: 50,
        messages: [{ role: 'user', content: `What is number-${number}, and of what is it made?` }],
        stream,
      }),
      ...(signal === undefined ? {} : { signal }),
    });
    const { status, headers } = answer;
    known = {
      number,
      status,
      requestId: headers.get('x-request-id') ?? '',
      retryAfter: headers.get('retry-after'),
    };
    const text = await answer.text();
    const whole = status === 200 && text.endsWith(stream ? 'data: [DONE]\n\n' : '}');
    return { ...known, whole, code: /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? '' };
  } catch {
    return { ...nothing, ...known };
  }
}

/** Takes the limits off the first key, so that a test may ask as often as it likes. */
export async function unlimit(url: string, operator: { token: string; workspaceId: string }): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${operator.token}` };
  const keysUrl = `${url}/workspaces/${operator.workspaceId}/api-keys`;
  const { data } = (await (await fetch(keysUrl, { headers })).json()) as { data: { id: string }[] };
  const answer = await fetch(`${keysUrl}/${data[0]?.id}`, {
    method: 'PATCH',
    headers,
    body: JSON.stringify({ requests_per_minute: 1_000_000_000, tokens_per_minute: 1_000_000_000 }),
  });
  if (answer.status !== 200) throw new Error(`the key's limits stayed: ${await answer.text()}`);
}
