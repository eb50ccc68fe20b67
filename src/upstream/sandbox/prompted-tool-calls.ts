// Which tools the sandbox calls for a prompt, and with what.

import { readPromptHints, tellingWords } from './prompt-hints.ts';
import { SandboxRefusal } from './sandbox-http.ts';
import type { SandboxRequest, SandboxTool } from './sandbox-request.ts';
import { sampleSchema } from './schema-sample.ts';

export type SandboxToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

/** A word of the prompt in the tool's name counts twice, one at the front of its description once; from here on it is asked for. */
const ASKED_FOR = 2;
/** Tool descriptions can be manuals; what a tool is for stands at the front. */
const DESCRIPTION_READ = 160;
const MAX_CALLS = 2;

/**
 * Calls follow a message of the user only; after a tool's result the sandbox answers in text. With `tool_choice` auto a
 * tool is called when the prompt shares words with its name (two points each) and description (one point each), from two
 * points on; the best one wins, the first among equals. `required` takes the best even without points, a named function that one.
 * There are two calls when the prompt shares words with the names of two tools, or joins two things by "and" or "both",
 * unless `parallel_tool_calls` is false.
 */
export function callPromptedTools(request: SandboxRequest, idSeed: string): SandboxToolCall[] {
  const last = request.messages.findLast(({ role }) => role !== 'system' && role !== 'developer');
  if (request.tools.length === 0 || request.toolChoice === 'none' || last?.role !== 'user') return [];
  const chosen = chooseTools(request, last.lastText);
  const hints = readPromptHints(last.lastText);
  const only = chosen[0];
  const twice =
    only !== undefined &&
    chosen.length === 1 &&
    request.parallelToolCalls &&
    namesTwoThings(last.lastText, hints.subjects);
  const calls = twice ? [only, only] : chosen;
  return calls.map((tool, at) => ({
    id: `call_${idSeed}${at}`,
    name: tool.name,
    arguments: JSON.stringify(sampleArguments(tool, hints, twice ? at : undefined)),
  }));
}

function chooseTools(request: SandboxRequest, prompt: string): SandboxTool[] {
  const { tools, toolChoice } = request;
  if (typeof toolChoice === 'object') {
    const named = tools.find(({ name }) => name === toolChoice.name);
    if (named === undefined)
      throw new SandboxRefusal(400, `\`tool_choice\` names "${toolChoice.name}", which is not in \`tools\`.`);
    return [named];
  }
  const words = new Set(tellingWords(prompt.slice(0, 4000)));
  const rated = tools.map((tool) => rate(tool, words)).sort((a, b) => b.points - a.points);
  const best = rated[0];
  if (best === undefined) return [];
  if (best.points < ASKED_FOR) return toolChoice === 'required' ? [best.tool] : [];
  const named = rated.filter(({ byName }) => byName);
  if (!request.parallelToolCalls || named.length < 2) return [best.tool];
  // In the order the tools were given, as a model would that reads them from the top.
  return tools.filter((tool) => named.slice(0, MAX_CALLS).some((rating) => rating.tool === tool));
}

function rate(tool: SandboxTool, words: ReadonlySet<string>) {
  const nameWords = new Set(tellingWords(tool.name.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ')));
  const aboutWords = new Set(tellingWords(tool.description.slice(0, DESCRIPTION_READ)));
  const inName = [...nameWords].filter((word) => words.has(word)).length;
  const inAbout = [...aboutWords].filter((word) => words.has(word) && !nameWords.has(word)).length;
  // A name counts as said only when most of it was: "get_weather" by "weather", not "web_page_screenshot_taker" by "page".
  return { tool, points: 2 * inName + inAbout, byName: inName > 0 && inName * 2 >= nameWords.size };
}

function namesTwoThings(prompt: string, subjects: readonly string[]): boolean {
  return subjects.length >= 2 && /\b(?:and|both)\b/i.test(prompt);
}

function sampleArguments(
  tool: SandboxTool,
  hints: ReturnType<typeof readPromptHints>,
  turn: number | undefined,
): unknown {
  const value = sampleSchema(tool.parameters ?? { type: 'object' }, hints, turn);
  // Arguments are always an object, whatever the schema says.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
