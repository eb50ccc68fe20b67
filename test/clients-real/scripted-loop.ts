// The upstream's side of a loop with one tool: a call first, and the marker only once the tool's result has come back.

import { chatAnswer, chatEvents, type FakeReply, type RecordedRequest } from '../helpers/fake-upstream.ts';
import type { OfferedTool, ToolCall } from './client-under-test.ts';
import { type LoopAnswer, messagesAnswer, messagesEvents } from './messages-answer.ts';

export type Loop = {
  /** What the tool gives back and the upstream waits for. */
  readonly secret: string;
  /** What the client must print in the end. */
  readonly marker: string;
  readonly call: (tools: readonly OfferedTool[]) => ToolCall | undefined;
};

/** Tokens that every answer claims, whatever was asked. */
export const TOKENS = { input: 10, output: 5 };

/** What the script looks at in a request of either format. */
export type SeenRequest = {
  readonly model: string;
  readonly stream: boolean;
  readonly tools: readonly OfferedTool[];
  /** Each as JSON, so that text in parts is found too. */
  readonly toolResults: readonly string[];
};

export function answerLoop(request: RecordedRequest, loop: Loop): FakeReply {
  const seen = readRequest(request);
  const answer = nextTurn(seen, loop);
  if (isMessages(request)) {
    return seen.stream ? { sse: messagesEvents(seen.model, answer) } : { json: messagesAnswer(seen.model, answer) };
  }
  const chat = { model: seen.model, usage: CHAT_USAGE, ...renderChatTurn(answer) };
  return seen.stream ? { sse: chatEvents(chat) } : { json: chatAnswer(chat) };
}

export function readRequest(request: RecordedRequest): SeenRequest {
  const body = (request.json ?? {}) as Body;
  const read = isMessages(request) ? readMessages(body) : readChat(body);
  return { model: body.model ?? '', stream: body.stream === true, ...read };
}

export function isMessages({ path }: RecordedRequest): boolean {
  return /\/messages(\?|$)/.test(path);
}

const CHAT_USAGE = {
  prompt_tokens: TOKENS.input,
  completion_tokens: TOKENS.output,
  total_tokens: TOKENS.input + TOKENS.output,
};

type Schema = { readonly properties?: object };
type Body = {
  readonly model?: string;
  readonly stream?: boolean;
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly {
    readonly name?: string;
    readonly input_schema?: Schema;
    readonly function?: { readonly name?: string; readonly parameters?: Schema };
  }[];
};

function readChat({ messages = [], tools = [] }: Body): Pick<SeenRequest, 'tools' | 'toolResults'> {
  return {
    tools: tools.map(({ function: tool }) => offered(tool?.name, tool?.parameters)),
    toolResults: messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content)),
  };
}

function readMessages({ messages = [], tools = [] }: Body): Pick<SeenRequest, 'tools' | 'toolResults'> {
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as { type?: string }[]) : []));
  return {
    tools: tools.map(({ name, input_schema: schema }) => offered(name, schema)),
    toolResults: blocks.filter(({ type }) => type === 'tool_result').map((block) => JSON.stringify(block)),
  };
}

function offered(name = '', schema: Schema = {}): OfferedTool {
  return { name, properties: Object.keys(schema.properties ?? {}) };
}

function nextTurn({ tools, toolResults }: SeenRequest, loop: Loop): LoopAnswer {
  if (toolResults.some((result) => result.includes(loop.secret))) {
    return { text: `The answer is ${loop.marker}, as the tool said.` };
  }
  if (toolResults.length > 0) return { text: 'The result of the tool did not arrive.' };
  const call = loop.call(tools);
  return call === undefined ? { text: 'A short title' } : { call };
}

function renderChatTurn(answer: LoopAnswer): Parameters<typeof chatAnswer>[0] {
  if ('text' in answer) return { text: answer.text };
  const { name, arguments: given } = answer.call;
  return { toolCalls: [{ id: 'call_loop_1', name, arguments: JSON.stringify(given) }] };
}
