// A loop with one tool through the openai SDK; prints the last answer.
import OpenAI from 'openai';

const { SVC_URL, SVC_API_KEY, MODEL, STREAM, TOOL_RESULT, WAY } = process.env;
const client = new OpenAI({ baseURL: `${SVC_URL}/v1`, apiKey: SVC_API_KEY, maxRetries: 0 });
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = [{ type: 'function', function: { name: 'get_weather', description: 'Weather of a city', parameters } }];
const messages = [{ role: 'user', content: 'What is the weather in Oslo?' }];

async function ask() {
  const body = { model: MODEL, messages, tools };
  if (!STREAM) return (await client.chat.completions.create(body)).choices[0].message;
  return client.chat.completions.stream({ ...body, stream_options: { include_usage: true } }).finalMessage();
}

async function chatLoop() {
  const first = await ask();
  messages.push(first);
  for (const call of first.tool_calls) {
    if (JSON.parse(call.function.arguments).city !== 'Oslo') throw new Error('wrong arguments');
    messages.push({ role: 'tool', tool_call_id: call.id, content: TOOL_RESULT });
  }
  return (await ask()).content;
}

async function responsesLoop() {
  const flat = [{ type: 'function', name: 'get_weather', description: 'Weather of a city', parameters, strict: false }];
  const input = [...messages];
  const respond = async () => {
    const body = { model: MODEL, input, tools: flat, store: false };
    return STREAM ? client.responses.stream(body).finalResponse() : client.responses.create(body);
  };
  const first = await respond();
  input.push(...first.output);
  for (const call of first.output.filter(({ type }) => type === 'function_call')) {
    if (JSON.parse(call.arguments).city !== 'Oslo') throw new Error('wrong arguments');
    input.push({ type: 'function_call_output', call_id: call.call_id, output: TOOL_RESULT });
  }
  return (await respond()).output_text;
}

console.log(WAY === 'responses' ? await responsesLoop() : await chatLoop());
