// The tools of a Chat request, its older `functions` included, made neutral.

import {
  invalidField,
  isObject,
  type JsonObject,
  optionalArray,
  optionalBoolean,
  optionalObject,
  optionalString,
  requiredString,
  withoutUndefined,
} from './field-checks.ts';
import type { CacheControl, NeutralTool, ToolChoice } from './neutral.ts';

const MODES = ['auto', 'none', 'required'] as const;

export function parseChatTools(value: JsonObject): readonly NeutralTool[] {
  const tools = optionalArray(value, 'tools')?.map(parseTool) ?? [];
  const functions = optionalArray(value, 'functions')?.map((entry, index) =>
    parseFunction(entry, `functions[${index}]`),
  );
  return functions === undefined ? tools : [...tools, ...functions];
}

export function parseChatToolChoice(value: JsonObject): ToolChoice | undefined {
  const choice = value['tool_choice'];
  if (choice === undefined || choice === null) return parseFunctionCall(value['function_call']);
  if (typeof choice === 'string') return parseMode(choice, 'tool_choice');
  if (!isObject(choice)) throw invalidField('tool_choice', 'must be "auto", "none", "required" or an object');
  const type = requiredString(choice, 'type', 'tool_choice');
  if (type !== 'function' && type !== 'custom') return undefined;
  const target = choice[type];
  if (!isObject(target)) throw invalidField(`tool_choice.${type}`, 'must be an object with a name');
  return { type: 'tool', name: requiredString(target, 'name', `tool_choice.${type}`) };
}

/** Kinds svc does not know (an upstream's own server tools) keep a name, so that routing still sees a tool. */
function parseTool(tool: unknown, index: number): NeutralTool {
  const path = `tools[${index}]`;
  if (!isObject(tool)) throw invalidField(path, 'must be an object like {"type": "function", "function": {…}}');
  const type = requiredString(tool, 'type', path);
  if (type === 'function') return parseFunction(tool['function'], `${path}.function`, tool['cache_control']);
  const custom = isObject(tool['custom']) ? tool['custom'] : tool;
  return { name: typeof custom['name'] === 'string' ? custom['name'] : type };
}

function parseFunction(entry: unknown, path: string, cacheControl?: unknown): NeutralTool {
  if (!isObject(entry)) throw invalidField(path, 'must be an object with name, description and parameters');
  return withoutUndefined<NeutralTool>({
    name: requiredString(entry, 'name', path),
    description: optionalString(entry, 'description', path),
    parameters: optionalObject(entry, 'parameters', path),
    strict: optionalBoolean(entry, 'strict', path),
    cacheControl: isObject(cacheControl) ? (cacheControl as CacheControl) : undefined,
  });
}

function parseFunctionCall(value: unknown): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return parseMode(value, 'function_call');
  if (!isObject(value)) throw invalidField('function_call', 'must be "auto", "none" or an object with a name');
  return { type: 'tool', name: requiredString(value, 'name', 'function_call') };
}

function parseMode(word: string, param: string): ToolChoice {
  const type = MODES.find((mode) => mode === word);
  if (type === undefined) throw invalidField(param, 'must be "auto", "none", "required" or an object');
  return { type };
}
