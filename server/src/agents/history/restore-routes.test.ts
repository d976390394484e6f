import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Restore } from '@roost/contracts/agents/workspace-restore'
import { Fault } from '../../kit/fault.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { insertRecord, insertRunRecords } from '../../test/history.ts'
import { openAgents } from '../test/world.ts'
import { type RestoreRequest, type Restores, restoreRoutes } from './restore-routes.ts'

const none = { added: 0, changed: 0, attributes: 0, deleted: 0, conflicts: [], conflict_count: 0 }

async function start(open: OpenTestDb) {
  const db = await open()
  const requests: RestoreRequest[] = []
  const accepted = (record: string): Restore => ({
    ...{ id: 'r1', record, state: 'applying', reason: null, message: null, ...none },
    ...{ undo_record: null, after_record: null },
    ...{ started_at: '2026-01-05T07:00:00.000Z', ended_at: null },
  })
  const restores: Restores = {
    preview: async (request) => {
      requests.push(request)
      const { id, number, reason, created_at, base_id, source_id, received_bytes } = request.record
      const counts = { added: 0, changed: 0, deleted: 0, renamed: 0, left_out_count: 1 }
      const flags = { is_changed: true, pinned: false }
      const record = {
        id,
        number,
        reason,
        created_at,
        base_id,
        source_id,
        received_bytes,
        ...counts,
        ...flags,
      }
      return { record, ...none, changes: [], total: 0 }
    },
    start: async (request, { whenBusy }) => {
      if (whenBusy === 'refuse') throw new Fault('agent_busy')
      requests.push(request)
      return accepted(request.record.id)
    },
    state: async (_agentId, id) => (id === 'r1' ? accepted('x') : null),
  }
  const world = await openAgents(db, { routes: restoreRoutes({ db, restores }) })
  const [owner, sharer] = [await world.person(), await world.person('user')]
  for (const name of ['scout', 'other']) await world.request(owner.key, 'POST', '/api/agents', { name })
  await world.request(owner.key, 'POST', '/api/agents/scout/share', { email: sharer.email })
  const agent = await world.row('scout')
  const record = await insertRecord(
    { db, history: world.history },
    agent.id,
    { 'a.txt': 'a' },
    { leftOut: [{ path: 'node_modules', reason: 'rule' }] },
  )
  await insertRunRecords(db, { execution_id: 'run', agent_id: agent.id, before_id: record.id })
  const post = (body: object, path = '', key = owner.key, name = 'scout') =>
    world.request(key, 'POST', `/api/agents/${name}/history/restores${path}`, body)
  return { ...world, owner, sharer, agent, record, requests, post }
}

forEachDialect((_, open) => {
  test('a target is a record, or a side of a run, with one path or everything', async () => {
    await using world = await start(open)
    const { record, requests, post } = world
    assert.equal((await post({ record: record.id }, '/preview')).status, 200)
    assert.equal((await post({ run: 'run', path: 'docs/ü', when_busy: 'wait' })).status, 202)
    assert.deepEqual(
      requests.map(({ record: { id }, paths, leftOut }) => [id, paths, leftOut]),
      [
        [record.id, [''], ['node_modules']],
        [record.id, ['docs/\u00c3\u00bc'], ['node_modules']],
      ],
    )
    const errors: [object, string][] = [
      [{}, 'validation_error'],
      [{ record: record.id, run: 'run' }, 'validation_error'],
      [{ record: 'unknown' }, 'record_not_found'],
      [{ run: 'unknown' }, 'execution_not_found'],
      [{ run: 'run', side: 'after' }, 'record_not_found'],
      [{ record: record.id, path: '../x' }, 'protected_path'],
      [{ record: record.id, path: '.roost/x' }, 'protected_path'],
      [{ record: record.id, paths: ['x'] }, 'validation_error'],
      [{ record: record.id }, 'agent_busy'],
    ]
    for (const [body, error] of errors)
      assert.equal((await post(body)).json.error, error, JSON.stringify(body))
    assert.equal(
      (await post({ record: record.id }, '', world.owner.key, 'other')).json.error,
      'record_not_found',
    )
    assert.equal((await post({ run: 'run' }, '', world.owner.key, 'other')).json.error, 'execution_not_found')
    assert.equal((await post({ record: record.id }, '', world.sharer.key)).json.error, 'owner_required')
    const self = await world.agentKey(world.agent.id)
    assert.equal((await post({ record: record.id }, '', self)).json.error, 'person_required')
  })

  test('the state of a restore', async () => {
    await using world = await start(open)
    const get = (id: string) =>
      world.request(world.owner.key, 'GET', `/api/agents/scout/history/restores/${id}`)
    assert.equal((await get('r1')).json.state, 'applying')
    assert.equal((await get('r2')).json.error, 'not_found')
  })
})
