// EventSource, as browsers have it.
import test from 'node:test'
import assert from 'node:assert/strict'
import {EventSource} from 'eventsource'

const url = process.env.DEBATE_URL
const types = ['config', 'state', 'phase', 'turn', 'dropped', 'decided', 'asked', 'annotated', 'ended', 'problem']

async function launch(model) {
  const answer = await fetch(url + '/debates', {method: 'POST', body: JSON.stringify({
    topic: 'Ban cars?', limits: {max_rounds: 2}, participants: [{name: 'Ada', provider: model}, {name: 'Bo', provider: model}], judges: [{name: 'Judge', provider: model}],
  })})
  assert.equal(answer.status, 201)
  return (await answer.json()).id
}

// cutAfter returns a response whose connection breaks after some milliseconds.
function cutAfter(ms, response) {
  const reader = response.body.getReader()
  const body = new ReadableStream({
    start: c => void setTimeout(() => { reader.cancel(); c.error(new TypeError('terminated')) }, ms),
    async pull(c) {
      const {value} = await reader.read()
      if (value) c.enqueue(value)
    },
  })
  return new Response(body, {status: response.status, headers: response.headers})
}

// follow returns the ids of all events, and the statuses of all connections, when the EventSource stops by itself. The first
// connections break.
function follow(id, breaks) {
  return new Promise((done, fail) => {
    const ids = [], statuses = []
    const source = new EventSource(`${url}/debates/${id}/events`, {fetch: async (input, init) => {
      const response = await fetch(input, init)
      statuses.push(response.status)
      return statuses.length <= breaks ? cutAfter(800, response) : response
    }})
    for (const type of types) source.addEventListener(type, e => {
      ids.push(e.lastEventId)
      if (type === 'problem') fail(new Error(e.data))
    })
    source.addEventListener('error', () => { if (source.readyState === EventSource.CLOSED) done({ids, statuses}) })
  })
}

test('an EventSource receives everything once, and stops after the end', async () => {
  for (const [model, breaks] of [['fast', 0], ['slow', 2]]) {
    const {ids, statuses} = await follow(await launch(model), breaks)
    assert.deepEqual(statuses, [...Array(breaks + 1).fill(200), 204])
    const durable = ids.slice(0, -1)
    assert.deepEqual(durable, durable.map((_, i) => String(i + 1)))
    assert.equal(ids.at(-1), durable.length + '-ended')
  }
})
