// A loop with one tool through the Anthropic SDK; prints the last answer.
import Anthropic from '@anthropic-ai/sdk';

const { SVC_URL, SVC_API_KEY, MODEL, STREAM, TOOL_RESULT } = process.env;
const client = new Anthropic({ baseURL: SVC_URL, apiKey: SVC_API_KEY, maxRetries: 0 });
const input_schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = [{ name: 'get_weather', description: 'Weather of a city', input_schema }];
const messages = [{ role: 'user', content: 'What is the weather in Oslo?' }];

async function ask() {
  const body = { model: MODEL, max_tokens: 1024, messages, tools };
  return STREAM ? client.messages.stream(body).finalMessage() : client.messages.create(body);
}

const first = await ask();
messages.push({ role: 'assistant', content: first.content });
const calls = first.content.filter(({ type }) => type === 'tool_use');
if (calls[0]?.input.city !== 'Oslo') throw new Error('wrong arguments');
messages.push({
  role: 'user',
  content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: TOOL_RESULT })),
});
const last = await ask();
console.log(last.content.map(({ text }) => text).join(''));
