// The OpenAI client for JavaScript.
import test from 'node:test'
import assert from 'node:assert/strict'
import OpenAI from 'openai'

const client = new OpenAI({apiKey: 'x', baseURL: process.env.DEBATE_URL + '/v1'})
const messages = [{role: 'user', content: 'Ban cars?'}]

test('a completion', async () => {
  const reply = await client.chat.completions.create({model: 'fast', messages})
  assert.match(reply.choices[0].message.content, /./)
})
