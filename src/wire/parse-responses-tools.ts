// The tools of a Responses request, made neutral, with the way back from a call to the kind of tool the caller gave.

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
import type { NeutralTool, ToolChoice } from './neutral.ts';
import { SvcError } from './svc-error.ts';

/** A tool as the caller knows it. `custom` ones take free text; those of a namespace are named within it. */
export type ResponsesTool = {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly namespace?: string;
};

export type ResponsesTools = {
  readonly tools: readonly NeutralTool[];
  readonly toolChoice?: ToolChoice;
  /** The tools as they came, without the dropped ones: what the answer repeats. */
  readonly kept: readonly JsonObject[];
  /** Types of the tools that only OpenAI's own servers can run, left out because the request can do without. */
  readonly dropped: readonly string[];
  /** By neutral name. */
  readonly byName: ReadonlyMap<string, ResponsesTool>;
};

const MODES = ['auto', 'none', 'required'] as const;

/** Tools that agents offer with every request, beside their own: an answer without them is still an answer. */
const OPTIONAL_SERVER_TOOL = /^(?:web_search|image_generation|tool_search)[a-z0-9_]*$/;

/** What a custom tool's free text travels in. */
const CUSTOM_PARAMETERS = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] } as const;

/** Throws UNSUPPORTED_FEATURE for a tool that runs at OpenAI where the request asks for it, or has no other. */
export function parseResponsesTools(value: JsonObject): ResponsesTools {
  const found: Found = { tools: [], kept: [], dropped: [], byName: new Map() };
  for (const [index, tool] of optionalArray(value, 'tools')?.entries() ?? []) addTool(found, tool, `tools[${index}]`);
  const [dropped] = found.dropped;
  if (dropped !== undefined && found.tools.length === 0 && value['tool_choice'] !== 'none') {
    throw unsupportedTool(dropped, 'tools');
  }
  return { ...found, ...parseToolChoice(value['tool_choice'], found.tools) };
}

/** One name for a tool of a namespace, as Chat has no namespaces. */
export function toNeutralToolName(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}__${name}`;
}

type Found = {
  readonly tools: NeutralTool[];
  readonly kept: JsonObject[];
  readonly dropped: string[];
  readonly byName: Map<string, ResponsesTool>;
};

function addTool(found: Found, tool: unknown, path: string): void {
  if (!isObject(tool)) throw invalidField(path, 'must be an object with a type, like {"type": "function", "name": …}');
  const type = requiredString(tool, 'type', path);
  if (OPTIONAL_SERVER_TOOL.test(type)) {
    found.dropped.push(type);
    return;
  }
  found.kept.push(tool);
  if (type !== 'namespace') {
    addCallable(found, tool, path, undefined);
    return;
  }
  const namespace = requiredString(tool, 'name', path);
  for (const [index, inner] of optionalArray(tool, 'tools', path)?.entries() ?? []) {
    const innerPath = `${path}.tools[${index}]`;
    if (!isObject(inner)) throw invalidField(innerPath, 'must be an object with type and name');
    addCallable(found, inner, innerPath, namespace);
  }
}

function addCallable(found: Found, tool: JsonObject, path: string, namespace: string | undefined): void {
  const type = requiredString(tool, 'type', path);
  if (type !== 'function' && type !== 'custom') throw unsupportedTool(type, `${path}.type`);
  const { name, ...definition } = type === 'function' ? parseFunction(tool, path) : parseCustom(tool, path);
  const neutralName = toNeutralToolName(namespace, name);
  // A call could not be led back to one of two tools.
  if (found.byName.has(neutralName)) throw invalidField(`${path}.name`, `is used twice: ${neutralName}`);
  found.byName.set(neutralName, { kind: type, name, ...(namespace === undefined ? {} : { namespace }) });
  found.tools.push({ name: neutralName, ...definition });
}

/** Some clients wrap the function as Chat does. */
function parseFunction(tool: JsonObject, path: string): NeutralTool {
  const wrapped = tool['function'];
  const definition = isObject(wrapped) ? wrapped : tool;
  return withoutUndefined<NeutralTool>({
    name: requiredString(definition, 'name', path),
    description: optionalString(definition, 'description', path),
    parameters: optionalObject(definition, 'parameters', path),
    strict: optionalBoolean(definition, 'strict', path),
  });
}

/** Chat models can't be held to a grammar, so they are shown it. */
function parseCustom(tool: JsonObject, path: string): NeutralTool {
  const format = optionalObject(tool, 'format', path) ?? {};
  const definition = optionalString(format, 'definition', `${path}.format`);
  const syntax = optionalString(format, 'syntax', `${path}.format`) ?? 'given';
  const grammar = definition === undefined ? '' : `The input must follow this ${syntax} grammar:\n${definition}`;
  const texts = [optionalString(tool, 'description', path) ?? '', grammar].filter((text) => text !== '');
  return {
    name: requiredString(tool, 'name', path),
    ...(texts.length === 0 ? {} : { description: texts.join('\n\n') }),
    parameters: CUSTOM_PARAMETERS,
  };
}

function parseToolChoice(
  choice: unknown,
  tools: readonly NeutralTool[],
): { toolChoice?: ToolChoice; tools: readonly NeutralTool[] } {
  if (choice === undefined || choice === null) return { tools };
  if (typeof choice === 'string') return { toolChoice: parseMode(choice, 'tool_choice'), tools };
  if (!isObject(choice)) throw invalidField('tool_choice', 'must be "auto", "none", "required" or an object');
  const type = requiredString(choice, 'type', 'tool_choice');
  if (type === 'allowed_tools') return parseAllowed(choice, tools);
  if (type !== 'function' && type !== 'custom') throw unsupportedTool(type, 'tool_choice');
  return { toolChoice: { type: 'tool', name: namedTool(choice, 'tool_choice') }, tools };
}

/** Only the tools named may be called; the others are not shown to the model at all. */
function parseAllowed(
  choice: JsonObject,
  tools: readonly NeutralTool[],
): { toolChoice: ToolChoice; tools: readonly NeutralTool[] } {
  const allowed = new Set<string>();
  for (const [index, entry] of optionalArray(choice, 'tools', 'tool_choice')?.entries() ?? []) {
    // Tools without a name run at OpenAI; dropped or refused above.
    if (isObject(entry) && 'name' in entry) allowed.add(namedTool(entry, `tool_choice.tools[${index}]`));
  }
  const mode = optionalString(choice, 'mode', 'tool_choice') ?? 'auto';
  return { toolChoice: parseMode(mode, 'tool_choice.mode'), tools: tools.filter(({ name }) => allowed.has(name)) };
}

function namedTool(entry: JsonObject, path: string): string {
  return toNeutralToolName(optionalString(entry, 'namespace', path), requiredString(entry, 'name', path));
}

function parseMode(word: string, param: string): ToolChoice {
  const type = MODES.find((mode) => mode === word);
  if (type === undefined) throw invalidField(param, 'must be "auto", "none", "required" or an object');
  return { type };
}

function unsupportedTool(type: string, param: string): SvcError {
  const message = `The tool type ${JSON.stringify(type.slice(0, 60))} is not available here: it runs at OpenAI. Leave it out, or give a function of your own.`;
  return new SvcError('UNSUPPORTED_FEATURE', message, { param });
}
