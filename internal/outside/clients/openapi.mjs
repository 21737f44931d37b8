// Validators of the OpenAPI document, and a client with types that a generator derives from it.
import test from 'node:test'
import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {readFileSync, writeFileSync} from 'node:fs'
import SwaggerParser from '@apidevtools/swagger-parser'
import createClient from 'openapi-fetch'

const url = process.env.DEBATE_URL
const bin = name => `${import.meta.dirname}/../node_modules/.bin/${name}`
const run = (name, ...args) => {
  try {
    return execFileSync(bin(name), args, {cwd: import.meta.dirname, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']})
  } catch (e) {
    throw new Error(e.stdout + e.stderr)
  }
}

writeFileSync(import.meta.dirname + '/openapi.json', await (await fetch(url + '/openapi.json')).text())

test('swagger-parser finds the document valid', async () => {
  await SwaggerParser.validate(import.meta.dirname + '/openapi.json')
})

test('redocly finds nothing', () => {
  const {problems} = JSON.parse(run('redocly', 'lint', '--format=json', 'openapi.json'))
  const harmless = p => p.ruleId === 'operation-4xx-response' && /openapi\.json/.test(p.location[0].pointer) // everyone may read it
  assert.deepEqual(problems.filter(p => !harmless(p)), [])
})

test('a program with the types of openapi-typescript compiles', () => {
  run('openapi-typescript', 'openapi.json', '--output', 'openapi.ts')
  writeFileSync(import.meta.dirname + '/typed.mts', readFileSync(import.meta.dirname + '/typed.txt'))
  run('tsc', '--strict', '--noEmit', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext', 'typed.mts')
})

test('openapi-fetch launches a debate and reads its result', async () => {
  const client = createClient({baseUrl: url})
  const {data, error, response} = await client.POST('/debates', {body: {topic: 'Ban cars?', limits: {max_rounds: 1}, participants: [{name: 'Ada', provider: 'slow'}, {name: 'Bo', provider: 'slow'}], judges: [{name: 'Judge', provider: 'slow'}]}})
  assert.equal(error, undefined)
  assert.equal(response.status, 201)
  const params = {path: {id: data.id}}
  assert.deepEqual((await client.GET('/debates/{id}/result', {params})).data.turns, [])
  const refused = await client.POST('/debates/{id}/reset', {params})
  assert.equal(refused.response.status, 409)
  assert.match(refused.error.type, /#refused$/)
})
