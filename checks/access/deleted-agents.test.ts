/** Runs outlive their agent. A new agent with the same name must not expose them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openWorld, type World } from './world.ts'

const canary = 'canary-of-the-first-scout'
let world: World
let runId: string
let loopId: string
let fanOutId: string
const people: Record<string, string> = {}

before(async () => {
  world = await openWorld()
  const { admin } = world
  people.admin = admin
  people['former owner'] = await world.person('first@example.org', 'creator')
  people['new owner'] = await world.person('second@example.org', 'creator')
  people.stranger = await world.person('third@example.org', 'user')
  const token = people['former owner']
  const post = (path: string, body: object) => world.ok('POST', `/api/agents/scout${path}`, { token, body })
  await world.ok('POST', '/api/agents', { token, body: { name: 'scout' } })
  // The agent program never connects, so all runs stay queued until the deletion.
  runId = (await post('/task', { message: canary, async_mode: true })).execution_id
  fanOutId = (await post('/fan-out', { tasks: [{ message: canary }], async_mode: true })).fan_out_id
  loopId = (await post('/loops', { message: canary, max_runs: 2 })).loop_id
  await world.ok('DELETE', '/api/agents/scout', { token })
  const newId = await world.makeAgent(people['new owner'], 'scout')
  const adminId = await world.idOf(admin)
  const newOwnerId = await world.idOf(people['new owner'])
  people["new agent's key"] = await world.plantKey('agent', newOwnerId, newId)
  people['system key'] = await world.plantKey('system', adminId, null)
  people['ops key'] = (await world.mint(admin, { name: 'ops', scope: 'ops' })).key
})
after(() => world?.[Symbol.asyncDispose]())

const parts = ['', '/log', '/stream']

for (const who of ['admin', 'system key']) {
  test(`200 for ${who}: details, log and stream of a listed run`, async () => {
    const token = people[who]
    const rows = await world.ok('GET', '/api/executions?hours=0', { token })
    const listed = rows.find(({ id }: { id: string }) => id === runId)
    assert.deepEqual([listed.message, listed.agent_deleted], [canary, true])
    const [details, log, stream] = await Promise.all(
      parts.map((part) => world.ask('GET', `/api/executions/${runId}${part}`, { token })),
    )
    assert.deepEqual([details?.status, log?.status, stream?.status], [200, 200, 200])
    const run = JSON.parse(details?.text ?? '')
    assert.deepEqual([run.message, run.status, run.error_code], [canary, 'cancelled', 'agent_deleted'])
    assert.deepEqual(JSON.parse(log?.text ?? '').message, canary)
    assert.match(stream?.text ?? '', /"type":"stream_end","status":"cancelled"/)
    const unknown = await world.ask('GET', '/api/executions/unknown', { token })
    assert.deepEqual([unknown.status, unknown.error], [404, 'execution_not_found'])
  })
}

for (const who of ['former owner', 'new owner', "new agent's key", 'stranger', 'ops key']) {
  test(`${who} can find neither the run nor its message`, async () => {
    const token = people[who]
    for (const part of parts) {
      const { status, error } = await world.ask('GET', `/api/executions/${runId}${part}`, { token })
      const expected = who === 'ops key' ? 'scope_not_allowed' : 'admin_required'
      assert.deepEqual([status, error], [403, expected], part)
    }
    const paths = [
      ...parts.map((part) => `/api/agents/scout/executions/${runId}${part}`),
      `/api/agents/scout/fan-out/${fanOutId}`,
      `/api/loops/${loopId}`,
    ]
    for (const path of paths) {
      const { status, text } = await world.ask('GET', path, { token })
      assert.ok(status === 404 || status === 403, `${path}: ${text}`)
    }
    const lists = ['/api/executions?hours=0', `/api/executions?hours=0&search=${canary}`]
    for (const path of [...lists, '/api/agents/scout/executions', '/api/agents/scout/loops']) {
      const { text } = await world.ask('GET', path, { token })
      assert.doesNotMatch(text, new RegExp(canary), path)
    }
  })
}

test('401 without a credential', async () => {
  for (const part of parts) {
    const { status, error } = await world.ask('GET', `/api/executions/${runId}${part}`)
    assert.deepEqual([status, error], [401, 'not_authenticated'])
  }
})
