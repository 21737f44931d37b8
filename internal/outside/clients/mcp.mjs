// The SDK of MCP for TypeScript, and the command of its inspector.
import test from 'node:test'
import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {createRequire} from 'node:module'
import {dirname, join} from 'node:path'
import {promisify} from 'node:util'
import {Client} from '@modelcontextprotocol/sdk/client/index.js'
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js'
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {ElicitRequestSchema} from '@modelcontextprotocol/sdk/types.js'

const url = new URL(process.env.DEBATE_URL)
const wait = ms => new Promise(resolve => setTimeout(resolve, ms))

// connect returns a client. Forms go to the function elicit, if there is one.
async function connect(t, {elicit, fetch} = {}) {
  const client = new Client({name: 'test', version: '1'}, {capabilities: elicit ? {elicitation: {}} : {}})
  if (elicit) client.setRequestHandler(ElicitRequestSchema, elicit)
  await client.connect(new StreamableHTTPClientTransport(url, {fetch}))
  t.after(() => client.close())
  return client
}

// call calls a tool.
async function call(client, name, input, options) {
  const result = await client.callTool({name, arguments: input}, undefined, options)
  return {...result.structuredContent, text: result.content[0].text, isError: !!result.isError}
}

test('the list of tools is short and says what each tool does', async t => {
  const client = await connect(t)
  const list = await client.listTools()
  assert.ok(JSON.stringify(list).length < 8000, `${JSON.stringify(list).length} characters`)
  for (const tool of list.tools) {
    assert.ok(tool.title, tool.name)
    assert.equal(tool.annotations.readOnlyHint, ['debate_status', 'debate_result', 'debate_list'].includes(tool.name), tool.name)
  }
  assert.match(client.getInstructions(), /Do not use it for/)
  assert.equal((await client.listPrompts()).prompts.length, 3)
  assert.deepEqual(client.getServerCapabilities(), {completions: {}, prompts: {}, resources: {subscribe: true}, tools: {}})
})

test('each protocol that is offered holds a debate, with a decision as data', async t => {
  const client = await connect(t)
  const {tools} = await client.listTools()
  const protocols = tools.find(tool => tool.name === 'debate').inputSchema.properties.protocol.enum
  assert.equal(protocols.length, 7)
  for (const protocol of protocols) {
    const out = await call(client, 'debate', {topic: 'Ban cars?', preset: 'fast', protocol})
    assert.equal(out.status, 'completed', protocol)
    assert.ok(out.tokens > 0)
    if (protocol === 'panel') assert.deepEqual(Object.keys(out.scores).sort(), ['Ada', 'Bo'])
    if (protocol === 'vote') assert.equal(Object.values(out.votes).reduce((a, b) => a + b), 2)
  }
})

test('a person types for longer than the timeout while the client hears of progress', async t => {
  let heard = 0
  const client = await connect(t, {elicit: async () => {
    await wait(6000)
    return {action: 'accept', content: {text: 'No.'}}
  }})
  const options = {timeout: 4000, resetTimeoutOnProgress: true, onprogress() { heard++ }}
  const out = await call(client, 'debate', {topic: 'Ban cars?', preset: 'human'}, options)
  assert.equal(out.status, 'completed')
  assert.ok(heard >= 6, `${heard} notifications`)
})

test('a person replies after the client has given up the call', async t => {
  let forms = 0
  const client = await connect(t, {elicit: async () => {
    forms++
    await wait(4000)
    return {action: 'accept', content: {text: 'No.'}}
  }})
  const id = 'late-' + Date.now()
  await assert.rejects(call(client, 'debate', {topic: 'Ban cars?', preset: 'human', id, budget: {rounds: 1}}, {timeout: 2000}), /timed out/)
  const out = await call(client, 'debate', {id}, {timeout: 30000})
  assert.equal(out.status, 'completed')
  assert.equal(forms, 1)
})

test('a cut stream resumes', async t => {
  let cuts = 0
  const cutting = async (address, init) => {
    const answer = await fetch(address, init)
    if (cuts > 0 || !String(init?.body).includes('"tools/call"')) return answer
    cuts++
    const reader = answer.body.getReader()
    const body = new ReadableStream({async pull(controller) {
      controller.enqueue((await reader.read()).value)
      controller.error(new Error('the connection is cut'))
      await reader.cancel()
    }})
    return new Response(body, {status: answer.status, headers: answer.headers})
  }
  const client = await connect(t, {fetch: cutting})
  const out = await call(client, 'debate', {topic: 'Ban cars?', preset: 'slow'}, {timeout: 30000, onprogress() {}})
  assert.equal(out.status, 'completed')
  assert.equal(cuts, 1)
})

test('a debate goes on in another server over standard input and output', async t => {
  const start = async () => {
    const client = new Client({name: 'test', version: '1'})
    const transport = new StdioClientTransport({
      command: process.env.DEBATE_COMMAND, args: ['mcp', '--store', process.env.DEBATE_DATABASE], env: {}, stderr: 'ignore',
    })
    await client.connect(transport)
    t.after(() => client.close())
    return {client, transport}
  }
  const first = await start()
  const {id} = await call(first.client, 'debate_start', {topic: 'Ban cars?'})
  process.kill(first.transport.pid, 'SIGKILL')
  const {client} = await start()
  let out
  do out = await call(client, 'debate', {id}, {timeout: 120000})
  while (out.status === 'running')
  assert.equal(out.status, 'completed', out.text)
  assert.ok(out.scores)
})

test('a failed debate is an error', async t => {
  const out = await call(await connect(t), 'debate', {topic: 'Ban cars?', preset: 'fail'})
  assert.equal(out.status, 'failed')
  assert.ok(out.isError)
  assert.doesNotMatch(out.text, /Options|Before you use/)
})

test('debates are found', async t => {
  const client = await connect(t)
  const id = 'find-' + Date.now()
  await call(client, 'debate', {topic: 'Ride bicycles?', preset: 'fast', id})
  const {debates} = await call(client, 'debate_list', {text: 'bicycles'})
  assert.equal(debates[0].id, id)
  const {completion} = await client.complete({ref: {type: 'ref/resource', uri: 'debate://{id}/report'}, argument: {name: 'id', value: 'find-'}})
  assert.deepEqual(completion.values, [id])
  const {contents} = await client.readResource({uri: `debate://${id}/report`})
  assert.match(contents[0].text, /# Ride bicycles\?/)
})

test('the inspector calls a tool', async () => {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')
  const command = join(dirname(manifest), createRequire(import.meta.url)(manifest).bin['mcp-inspector'])
  for (const protocol of ['council', 'procon']) {
    const {stdout} = await promisify(execFile)(process.execPath, [command, '--cli', url.href, '--transport', 'http',
      '--method', 'tools/call', '--tool-name', 'debate', '--tool-arg', 'topic=Tea?', '--tool-arg', 'preset=fast', '--tool-arg', 'protocol=' + protocol])
    assert.equal(JSON.parse(stdout).structuredContent.status, 'completed')
  }
})
