import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, startWorld } from '../test/world.ts'

test('create_agent returns the warnings about its template', async () => {
  await using world = await startWorld()
  const created = {
    name: 'odd',
    missing_credentials: [],
    schedules_created: 0,
    schedule_errors: [],
    template_warnings: [{ path: 'credentials.env', message: 'Unknown key "env" in credentials is ignored.' }],
    warnings: [],
  }
  world.routes.set('POST /api/agents', () => ({ body: created }))
  const client = await world.connect(world.key('user'))
  const input = { name: 'odd', template: 'github:acme/odd', tags: ['a'], source_branch: 'main' }
  assert.deepEqual(await call(client, 'create_agent', input), { ...created, isError: false })
  assert.deepEqual(world.requests.find(({ path }) => path === '/api/agents')?.body, input)
})

test('the guide to templates has a complete example', async () => {
  await using world = await startWorld()
  const client = await world.connect(world.key('agent', 'scout'))
  const { guide } = await call(client, 'get_agent_requirements')
  assert.match(guide, /^ {4}credentials:.*\n {6}env_file: \[CRM_TOKEN\]/m)
})
