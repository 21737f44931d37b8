// The clients of A2A for JavaScript: of protocol 1.0 over JSON-RPC and REST, and of protocol 0.3.
import test from 'node:test'
import assert from 'node:assert/strict'
import http from 'node:http'
import {once} from 'node:events'
import {randomUUID} from 'node:crypto'
import {Role, TaskState} from '@a2a-js/sdk'
import {ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory} from '@a2a-js/sdk/client'
import {A2AClient, ClientFactory as OldFactory} from 'a2a-sdk-0.3/client'

const url = process.env.A2A_URL
const text = value => ({content: {$case: 'text', value}, metadata: undefined, filename: '', mediaType: 'text/plain'})
const data = value => ({content: {$case: 'data', value}, metadata: undefined, filename: '', mediaType: 'application/json'})

// request returns a request of protocol 1.0.
function request(parts, message = {}, configuration) {
  return {
    tenant: '', metadata: undefined, configuration,
    message: {messageId: randomUUID(), contextId: '', taskId: '', role: Role.ROLE_USER, parts, metadata: undefined, extensions: [], referenceTaskIds: [], ...message},
  }
}
const debate = preset => [data({preset, topic: 'Ban cars?'})]
const answer = task => task.artifacts.at(-1).parts[0].content.value

for (const transport of [new JsonRpcTransportFactory(), new RestTransportFactory()]) {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {transports: [transport], preferredTransports: [transport.protocolName]})
  const client = new ClientFactory(options).createFromUrl(url)

  test(`${transport.protocolName}: a task, its history, and the list`, async () => {
    const c = await client, contextId = randomUUID()
    const ask = request(debate('fast'), {contextId})
    const task = await c.sendMessage(ask)
    assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED)
    assert.equal(task.history[0].messageId, ask.message.messageId)
    assert.ok(!JSON.stringify(task).includes('<<<'), 'people read it in a chat window')
    assert.match(answer(task), /completed/)
    assert.equal((await c.getTask({tenant: '', id: task.id, historyLength: 0})).history.length, 0)
    assert.equal((await c.sendMessage(ask)).id, task.id, 'the same message is one debate')
    const list = await c.listTasks({tenant: '', contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageSize: 10, pageToken: '', statusTimestampAfter: undefined})
    assert.deepEqual(list.tasks.map(t => t.id), [task.id])
  })

  test(`${transport.protocolName}: a stream, a person, and a key that is refused`, async () => {
    const c = await client
    let id, artifacts = [], state
    for await (const {payload} of c.sendMessageStream(request(debate('human')))) {
      if (payload.$case === 'task') id = payload.value.id
      if (payload.$case === 'artifactUpdate') artifacts.push(payload.value.artifact.name)
      if (payload.$case === 'statusUpdate') state = payload.value.status.state
    }
    assert.deepEqual(artifacts, ['Ada'])
    assert.equal(state, TaskState.TASK_STATE_INPUT_REQUIRED)
    const reply = request([text('Shops need deliveries.')], {taskId: id})
    const task = await c.sendMessage(reply)
    assert.ok(task.artifacts.length > 1)
    assert.equal((await c.sendMessage(reply)).artifacts.length, task.artifacts.length, 'the same reply counts once')
    assert.equal((await c.sendMessage(request(debate('fail')))).status.state, TaskState.TASK_STATE_FAILED)
    await assert.rejects(c.getTask({tenant: '', id: 'unknown'}), /not found/i)
  })

  test(`${transport.protocolName}: push notifications`, async () => {
    const c = await client
    const got = []
    const server = http.createServer(async (q, r) => {
      let body = ''
      for await (const chunk of q) body += chunk
      r.end()
      got.push([q.headers['a2a-notification-token'], JSON.parse(body)])
      if (body.includes('TASK_STATE_COMPLETED')) server.emit('completed')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const completed = once(server, 'completed')
    const configuration = {
      acceptedOutputModes: [], returnImmediately: true, historyLength: undefined,
      taskPushNotificationConfig: {tenant: '', id: '', taskId: '', url: `http://127.0.0.1:${server.address().port}/`, token: 't1', authentication: undefined},
    }
    const task = await c.sendMessage(request(debate('fast'), {}, configuration))
    await completed
    server.close()
    assert.ok(got.every(([token]) => token === 't1'))
    assert.ok(JSON.stringify(got).includes(task.id))
  })
}

test('protocol 0.3', async () => {
  const c = await new OldFactory().createFromUrl(url)
  const send = (parts, more = {}) => ({message: {kind: 'message', messageId: randomUUID(), role: 'user', parts, ...more}})
  let id, artifacts = [], state
  for await (const event of c.sendMessageStream(send([{kind: 'data', data: {preset: 'human', topic: 'Ban cars?'}}]))) {
    if (event.kind === 'task') id = event.id
    if (event.kind === 'artifact-update') artifacts.push(event.artifact.name)
    if (event.kind === 'status-update') state = event.status.state
  }
  assert.deepEqual([artifacts, state], [['Ada'], 'input-required'])
  const task = await c.sendMessage(send([{kind: 'text', text: 'Shops need deliveries.'}], {taskId: id}))
  assert.equal(task.kind, 'task')
  assert.ok(task.artifacts.length > 1)
  assert.equal((await c.getTask({id, historyLength: 0})).history?.length ?? 0, 0)
  assert.equal((await c.cancelTask({id})).status.state, 'canceled')
  await assert.rejects(c.getTask({id: 'unknown'}), /not found/i)

  const first = await A2AClient.fromCardUrl(url + '/.well-known/agent-card.json')
  const whole = await first.sendMessage(send([{kind: 'data', data: {preset: 'fast', topic: 'Ban cars?'}}]))
  assert.equal(whole.result.status.state, 'completed')
})
