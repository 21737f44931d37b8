// The OpenAI client for JavaScript.
import test from 'node:test'
import assert from 'node:assert/strict'
import OpenAI from 'openai'

const url = process.env.DEBATE_URL
const client = new OpenAI({apiKey: 'x', baseURL: url + '/v1'})
const impatient = new OpenAI({apiKey: 'x', baseURL: url + '/v1', timeout: 2000})
const messages = [{role: 'user', content: 'Ban cars?'}]
const chat = client.chat.completions

// debates returns the statuses of all debates with a topic.
async function debates(topic) {
  const {debates} = await (await fetch(url + '/debates?limit=1000')).json()
  return debates.filter(d => d.topic === topic)
}

test('models', async () => {
  const {data} = await client.models.list()
  assert.deepEqual(data.map(m => m.id), ['fail', 'fast', 'human', 'slow'])
  assert.equal((await client.models.retrieve('fast')).id, 'fast')
  await assert.rejects(client.models.retrieve('gpt'), e => e instanceof OpenAI.NotFoundError && e.code === 'model_not_found' && e.param === 'model')
})

test('a completion', async () => {
  const reply = await chat.create({model: 'fast', messages: [{role: 'system', content: 'Be brief.'}, ...messages], temperature: 0.5, max_tokens: 100, tool_choice: 'auto'})
  assert.match(reply.choices[0].message.content, /./)
  assert.equal(reply.usage.total_tokens, reply.usage.prompt_tokens + reply.usage.completion_tokens)
})

test('a stream', async () => {
  let text = '', usage
  for await (const part of await chat.create({model: 'fast', messages, stream: true, stream_options: {include_usage: true}})) {
    text += part.choices[0]?.delta.content ?? ''
    usage = part.usage ?? usage
  }
  assert.match(text, /./)
  assert.ok(usage.total_tokens > 0)
  const final = await chat.stream({model: 'fast', messages}).finalChatCompletion()
  assert.equal(final.choices[0].finish_reason, 'stop')
})

test('a debate without an answer is not repeated', async () => {
  const question = [{role: 'user', content: 'Does it fail once?'}]
  await assert.rejects(chat.create({model: 'fail', messages: question}), e => e.status === 502 && e.code === 'stopped' && /is in error: authentication/.test(e.message))
  assert.equal((await debates('Does it fail once?')).length, 1)
  const stream = await chat.create({model: 'fail', messages: question, stream: true})
  await assert.rejects(async () => { for await (const _ of stream); }, /is in error: authentication/)
})

test('a retry after a timeout finds the debate of the first try', async () => {
  const question = [{role: 'user', content: 'Does it take long?'}]
  const reply = await impatient.chat.completions.create({model: 'slow', messages: question}, {maxRetries: 5})
  assert.match(reply.choices[0].message.content, /./)
  const list = await debates('Does it take long?')
  assert.equal(list.length, 1)
  assert.equal(list[0].id, reply.id)
})

test('an idempotency key finds the debate again', async () => {
  const ask = () => chat.create({model: 'fast', messages}, {headers: {'Idempotency-Key': 'k'}})
  assert.equal((await ask()).id, (await ask()).id)
})

test('what a debate cannot do is refused', async () => {
  const schema = {name: 'x', strict: true, schema: {type: 'object', properties: {}, additionalProperties: false}}
  const tools = [{type: 'function', function: {name: 'x', parameters: {}}}]
  for (const [param, fields] of Object.entries({
    response_format: {response_format: {type: 'json_schema', json_schema: schema}}, tool_choice: {tools, tool_choice: 'required'},
    n: {n: 2}, stop: {stop: ['\n']}, logprobs: {logprobs: true}, modalities: {modalities: ['text', 'audio']},
  })) {
    await assert.rejects(chat.create({model: 'fast', messages, ...fields}), e => e instanceof OpenAI.BadRequestError && e.param === param)
  }
  await assert.rejects(chat.parse({model: 'fast', messages, response_format: {type: 'json_schema', json_schema: schema}}), OpenAI.BadRequestError)
})

test('what is not served is refused in the format of OpenAI', async () => {
  await assert.rejects(client.embeddings.create({model: 'fast', input: 'x'}), e => e instanceof OpenAI.NotFoundError && e.code === 'unknown_url')
  await assert.rejects(client.get('/chat/completions'), e => e.status === 405 && e.code === 'method_not_supported')
  await assert.rejects(chat.create({model: 'gpt', messages}), e => e instanceof OpenAI.NotFoundError && e.code === 'model_not_found')
})

test('a long call without streaming is kept alive', async () => {
  const response = await chat.create({model: 'slow', messages}).asResponse()
  assert.match(await response.text(), /^\n+\{/)
  const reply = await chat.create({model: 'slow', messages})
  assert.match(reply.choices[0].message.content, /./)
})

test('an aborted call continues, and its debate is found again', async () => {
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 500)
  await assert.rejects(chat.create({model: 'slow', messages: [{role: 'user', content: 'Is it aborted?'}]}, {signal: abort.signal}), OpenAI.APIUserAbortError)
  const [debate] = await debates('Is it aborted?')
  assert.notEqual(debate.state, 'canceled')
})
