// A client of the service in JavaScript, for Node 18 or newer, without packages:
//
//	go run ./examples/http
//	node examples/http/client.mjs "Should cities ban private cars?"
//
// A page in a browser can follow a debate in one line, because EventSource reconnects by itself and stops after the end:
//
//	new EventSource(`${service}/debates/${id}/events`).addEventListener('turn', e => show(JSON.parse(e.data).turn))

const service = process.env.SERVICE ?? 'http://127.0.0.1:8080'
const topic = process.argv[2] ?? 'Should cities ban private cars?'

// call sends a request, and returns the answer. It throws what the service says about a request that it refuses.
async function call(path, options) {
  const response = await fetch(service + path, options)
  if (response.ok) return response
  const problem = await response.json()
  throw new Error(problem.detail ?? problem.title)
}

// follow yields the events of a debate, and continues after the last one if the connection breaks.
async function* follow(id) {
  for (let last = '0'; ;) {
    try {
      const response = await call(`/debates/${id}/events`, {headers: {'Last-Event-ID': last}})
      if (response.status === 204) return // there is no more
      let text = ''
      for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
        const messages = (text + part).split('\n\n')
        text = messages.pop()
        for (const message of messages) {
          const field = name => message.split('\n').find(line => line.startsWith(name + ': '))?.slice(name.length + 2)
          if (field('event') === 'problem') throw new Error(JSON.parse(field('data')).title)
          if (field('data')) yield JSON.parse(field('data'))
          last = field('id') ?? last
        }
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      await new Promise(done => setTimeout(done, 1000)) // the connection broke
    }
  }
}

const debate = {
  topic, limits: {max_rounds: 1},
  participants: [{name: 'Ada', side: 'for'}, {name: 'Bo', side: 'against'}], judges: [{name: 'Judge'}],
}
const {id} = await (await call('/debates', {method: 'POST', body: JSON.stringify(debate)})).json()
for await (const event of follow(id)) {
  if (event.type === 'turn' && event.turn.kind === 'speech') console.log(`${event.turn.actor}: ${event.turn.text}\n`)
  if (event.type === 'ended') console.log(event.result.answer.text)
}
