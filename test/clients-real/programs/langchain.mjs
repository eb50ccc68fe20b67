// A loop with one tool through LangChain; prints the last answer.
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';

const { SVC_URL, SVC_API_KEY, MODEL, STREAM, TOOL_RESULT, WAY } = process.env;
const common = { model: MODEL, apiKey: SVC_API_KEY, maxRetries: 0 };
const chat =
  WAY === 'anthropic'
    ? new ChatAnthropic({ ...common, anthropicApiUrl: SVC_URL, maxTokens: 1024 })
    : new ChatOpenAI({ ...common, configuration: { baseURL: `${SVC_URL}/v1` } });
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const model = chat.bindTools([{ name: 'get_weather', description: 'Weather of a city', schema }]);
const messages = [new HumanMessage('What is the weather in Oslo?')];

async function ask() {
  if (!STREAM) return model.invoke(messages);
  let whole;
  for await (const chunk of await model.stream(messages)) whole = whole === undefined ? chunk : whole.concat(chunk);
  return whole;
}

const first = await ask();
messages.push(first);
for (const call of first.tool_calls) {
  if (call.args.city !== 'Oslo') throw new Error('wrong arguments');
  messages.push(new ToolMessage({ tool_call_id: call.id, content: TOOL_RESULT }));
}
const last = await ask();
if (!(last.usage_metadata?.output_tokens > 0)) throw new Error(`no usage: ${JSON.stringify(last.usage_metadata)}`);
console.log(last.text);
