import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, startWorld } from '../test/world.ts'

const summary = {
  agent_name: 'scout',
  canvas_id: 'main',
  title: 'State',
  audience: 'operator',
  template: null,
  pinned: false,
  stale: false,
  created_at: '2030-01-01T00:00:00.000Z',
  updated_at: '2030-01-01T00:00:00.000Z',
  updated_by_execution_id: null,
}
const block = { kind: 'kpi', payload: { tiles: [{ label: 'Cost', value: 1.2, unit: 'USD' }] } }
const stored = { ...block, id: 'b1', title: null, slot: null }

test('an agent writes, changes, reads and clears its own canvas, by default "main"; people are refused', async () => {
  await using world = await startWorld()
  const canvas = { ...summary, blocks: [stored] }
  const path = '/api/agents/scout/canvas'
  world.routes.set(`PUT ${path}/main`, () => ({ body: canvas }))
  world.routes.set(`PATCH ${path}/costs`, () => ({ body: { ...canvas, canvas_id: 'costs' } }))
  world.routes.set(`GET ${path}/main`, () => ({ body: canvas }))
  world.routes.set(`GET ${path}`, () => ({ body: [summary] }))
  world.routes.set(`DELETE ${path}/main`, () => ({ body: { canvas_id: 'main', deleted: true } }))
  const agent = await world.connect(world.key('agent', 'scout'))
  const written = { ...summary, block_ids: ['b1'], isError: false }
  assert.deepEqual(await call(agent, 'set_canvas', { title: 'State', blocks: [block] }), written)
  const change = { canvas_id: 'costs', blocks: [{ id: 'b1', payload: { tiles: [] } }] }
  assert.deepEqual(await call(agent, 'patch_canvas', change), { ...written, canvas_id: 'costs' })
  assert.deepEqual(await call(agent, 'get_canvas', {}), { ...canvas, isError: false })
  assert.equal((await call(agent, 'list_canvases', {})).count, 1)
  assert.equal((await call(agent, 'clear_canvas', {})).deleted, true)
  assert.deepEqual(
    world.requests.filter(({ method }) => method === 'PUT' || method === 'PATCH').map(({ body }) => body),
    [{ title: 'State', blocks: [block] }, { blocks: change.blocks }],
  )
  const person = await world.connect(world.key('user'))
  for (const name of ['set_canvas', 'get_canvas', 'list_canvases', 'clear_canvas'])
    assert.equal(
      (await call(person, name, name === 'set_canvas' ? { blocks: [block] } : {})).error,
      'agent_identity_required',
    )
})

test('an API error names block and field', async () => {
  await using world = await startWorld()
  const detail = [{ loc: ['body', 'blocks', 0, 'payload', 'tiles'], msg: 'is required', type: 'missing' }]
  world.routes.set('PUT /api/agents/scout/canvas/main', () => ({
    status: 422,
    body: { detail, error: 'validation_error' },
  }))
  const agent = await world.connect(world.key('agent', 'scout'))
  const refused = await call(agent, 'set_canvas', { blocks: [{ kind: 'kpi', payload: {} }] })
  assert.deepEqual([refused.error, refused.isError], ['validation_error', true])
  assert.match(refused.message, /blocks.*0.*payload.*tiles/)
})
