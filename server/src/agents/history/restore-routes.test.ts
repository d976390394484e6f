import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { insertRecord, insertRunRecords } from '../../test/history.ts'
import { openAgents } from '../test/world.ts'
import { restoreStore } from './restore-store.ts'

async function start(open: OpenTestDb) {
  const db = await open()
  let isBusy = true
  const world = await openAgents(db, { needs: { lockRuns: async () => (isBusy ? ['busy'] : []) } })
  const [owner, sharer] = [await world.person(), await world.person('user')]
  for (const name of ['scout', 'other']) await world.request(owner.key, 'POST', '/api/agents', { name })
  const share = { email: sharer.email, access: 'write' }
  await world.request(owner.key, 'POST', '/api/agents/scout/share', share)
  const agent = await world.row('scout')
  const record = await insertRecord(world, agent.id, { 'a.txt': 'a' })
  await insertRunRecords(db, { execution_id: 'run', agent_id: agent.id, before_id: record.id })
  // It answers no call.
  world.link.link(agent.id)
  const post = (body: object, path = '', key = owner.key, name = 'scout') =>
    world.request(key, 'POST', `/api/agents/${name}/history/restores${path}`, body)
  return {
    ...{ ...world, owner, sharer, agent, record, post },
    end: () => (isBusy = false),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

forEachDialect((_, open) => {
  test('a target is a record, or a side of a run, with one path or everything', async () => {
    await using world = await start(open)
    const { record, post } = world
    const errors: [object, string][] = [
      [{}, 'validation_error'],
      [{ record: record.id, run: 'run' }, 'validation_error'],
      [{ record: 'unknown' }, 'record_not_found'],
      [{ run: 'unknown' }, 'execution_not_found'],
      [{ run: 'run', side: 'after' }, 'record_not_found'],
      [{ record: record.id, path: '../x' }, 'protected_path'],
      [{ record: record.id, path: '.roost/x' }, 'protected_path'],
      [{ record: record.id, path: '.ssh' }, 'protected_path'],
      [{ record: record.id, path: 'shared-in/x' }, 'protected_path'],
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
    const { status, json } = await post({ run: 'run', path: 'docs/ü', when_busy: 'wait' })
    assert.deepEqual([status, json.record, json.state], [202, record.id, 'waiting'])
    const row = await restoreStore(world.db).byId(world.agent.id, json.id)
    assert.deepEqual([row?.paths, row?.asked_by], [JSON.stringify(['docs/\u00c3\u00bc']), world.owner.id])
  })

  test('a file that the run renamed is restored under its earlier name, too', async () => {
    await using world = await start(open)
    const { agent, db, post } = world
    const content = 'the same content, long enough to be found again\n'
    const [before, after] = [
      await insertRecord(world, agent.id, { 'old.md': content }),
      await insertRecord(world, agent.id, { 'new.md': content }),
    ]
    const ids = { before_id: before.id, after_id: after.id }
    await insertRunRecords(db, { execution_id: 'rename', agent_id: agent.id, ...ids })
    const { json } = await post({ run: 'rename', path: 'new.md', when_busy: 'wait' })
    const row = await restoreStore(db).byId(agent.id, json.id)
    assert.equal(row?.paths, JSON.stringify(['new.md', 'old.md']))
  })

  test('only the owner restores, whatever a person with access may write, and never the agent itself', async () => {
    await using world = await start(open)
    const { record, post, sharer } = world
    const self = await world.agentKey(world.agent.id)
    for (const path of ['', '/preview']) {
      assert.equal((await post({ record: record.id }, path, sharer.key)).json.error, 'owner_required')
      assert.equal((await post({ record: record.id }, path, self)).json.error, 'person_required')
    }
    const { json } = await post({ record: record.id, when_busy: 'wait' })
    const all = '/api/agents/scout/history/restores'
    const address = `${all}/${json.id}`
    for (const url of [all, address])
      assert.equal((await world.request(sharer.key, 'GET', url)).json.error, 'owner_required')
    const cancel = (key: string) => world.request(key, 'POST', `${address}/cancel`)
    assert.equal((await cancel(sharer.key)).json.error, 'owner_required')
    assert.equal((await cancel(self)).json.error, 'person_required')
    assert.equal((await world.request(world.owner.key, 'GET', address)).json.state, 'waiting')
  })

  test('the state of a restore', async () => {
    await using world = await start(open)
    const get = (id: string, name = 'scout') =>
      world.request(world.owner.key, 'GET', `/api/agents/${name}/history/restores/${id}`)
    const { json } = await world.post({ record: world.record.id, when_busy: 'wait' })
    assert.equal((await get(json.id)).json.state, 'waiting')
    assert.equal((await get(json.id, 'other')).json.error, 'not_found')
    const list = (name: string) =>
      world.request(world.owner.key, 'GET', `/api/agents/${name}/history/restores`)
    assert.deepEqual((await list('scout')).json, { restores: [(await get(json.id)).json] })
    assert.deepEqual((await list('other')).json, { restores: [] })
    assert.equal((await get('r2')).json.error, 'not_found')
  })
})
