// The agent of AG-UI over HTTP, which CopilotKit uses.
import test from 'node:test'
import assert from 'node:assert/strict'
import {HttpAgent} from '@ag-ui/client'

const url = process.env.DEBATE_URL + '/agui'
const texts = list => list.map(m => m.content)

test('two questions in a thread are two debates', async () => {
  const agent = new HttpAgent({url, threadId: 'a thread/with signs', initialMessages: [{id: '1', role: 'user', content: 'Ban cars?'}]})
  const first = await agent.runAgent()
  assert.equal(first.newMessages.length, 5)
  assert.equal(first.newMessages.at(-1).content, agent.state.answer)
  const before = texts(agent.messages)
  agent.addMessage({id: '2', role: 'user', content: [{type: 'text', text: 'And '}, {type: 'text', text: 'bikes?'}]})
  const id = agent.state.debate
  const second = await agent.runAgent()
  assert.equal(second.newMessages.length, 5)
  assert.deepEqual(texts(agent.messages).slice(0, 5 + 1), before)
  assert.notEqual(agent.state.debate, id)
  const result = await (await fetch(`${process.env.DEBATE_URL}/debates/${agent.state.debate}/result`)).json()
  assert.equal(result.topic, 'And bikes?')
  assert.match(result.background, /^Earlier, the user said: Ban cars\?\n\nEarlier, the assistant said: /)
  assert.ok(result.background.endsWith(before.at(-1)))
})

test('errors reach the user interface', async () => {
  const agent = new HttpAgent({url, threadId: 't', initialMessages: [{id: '1', role: 'user', content: 'x'}, {id: '2', role: 'tool', toolCallId: 'c', content: '42'}]})
  let message
  await agent.runAgent({}, {onRunErrorEvent: ({event}) => { message = event.message }}).catch(() => {})
  assert.match(message, /last message is not from the user/)
})

test('an aborted run cancels its debate', async () => {
  const agent = new HttpAgent({url, threadId: 'aborted', initialMessages: [{id: '1', role: 'user', content: 'Ban cars?'}]})
  setTimeout(() => agent.abortRun(), 1500)
  await agent.runAgent().catch(() => {})
  for (;;) {
    const {state} = await (await fetch(`${process.env.DEBATE_URL}/debates/${agent.state.debate}`)).json()
    if (state === 'canceled') return
    assert.notEqual(state, 'completed')
    await new Promise(done => setTimeout(done, 100))
  }
})
