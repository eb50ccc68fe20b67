// The tools of a Messages request, made neutral; the ones the vendor runs itself are refused by name.

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
import { SvcError } from './svc-error.ts';

export function parseMessagesTools(value: JsonObject): readonly NeutralTool[] {
  return optionalArray(value, 'tools')?.map(parseTool) ?? [];
}

/** Both come from `tool_choice`: `disable_parallel_tool_use` lives inside it. */
export function parseMessagesToolChoice(value: JsonObject): {
  readonly toolChoice: ToolChoice | undefined;
  readonly parallelToolCalls: boolean | undefined;
} {
  const choice = optionalObject(value, 'tool_choice');
  if (choice === undefined) return { toolChoice: undefined, parallelToolCalls: undefined };
  const isSingle = optionalBoolean(choice, 'disable_parallel_tool_use', 'tool_choice') === true;
  return { toolChoice: toNeutralChoice(choice), parallelToolCalls: isSingle ? false : undefined };
}

function toNeutralChoice(choice: JsonObject): ToolChoice {
  switch (choice['type']) {
    case 'auto':
    case 'none':
      return { type: choice['type'] };
    case 'any':
      return { type: 'required' };
    case 'tool':
      return { type: 'tool', name: requiredString(choice, 'name', 'tool_choice') };
    default:
      throw invalidField('tool_choice.type', 'must be "auto", "any", "tool" or "none"');
  }
}

function parseTool(tool: unknown, index: number): NeutralTool {
  const path = `tools[${index}]`;
  if (!isObject(tool)) throw invalidField(path, 'must be an object with name and input_schema');
  const type = optionalString(tool, 'type', path) ?? 'custom';
  if (type !== 'custom') throw unsupportedTool(tool, type, `${path}.type`);
  const parameters = optionalObject(tool, 'input_schema', path);
  if (parameters === undefined)
    throw invalidField(`${path}.input_schema`, 'is required and must be a JSON Schema object');
  const mark = optionalObject(tool, 'cache_control', path);
  return withoutUndefined<NeutralTool>({
    name: requiredString(tool, 'name', path),
    description: optionalString(tool, 'description', path),
    parameters,
    strict: optionalBoolean(tool, 'strict', path),
    cacheControl: mark as CacheControl | undefined,
  });
}

function unsupportedTool(tool: JsonObject, type: string, param: string): SvcError {
  const name = typeof tool['name'] === 'string' ? `"${tool['name']}" (${type})` : type;
  const hint = 'svc passes only tools that the client runs itself: {name, description, input_schema}.';
  return new SvcError('UNSUPPORTED_FEATURE', `${param}: the tool ${name} is not available here; ${hint}`, { param });
}
