import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DiskUsage } from '@roost/contracts/agents/disk'
import { createTestAlerts } from '../../test/alerts.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { volumesOf } from '../lifecycle/index.ts'
import { createShared, openAgents } from '../test/world.ts'
import { hasChanged, requireDiskRoom, stateOf, usedBytes, workspaceBytes } from './rules.ts'

const megabyte = 1_000_000
const none = { reported_bytes: null, volume_bytes: null, container_bytes: null }

test('the larger of report and engine counts, and the layer is added', () => {
  assert.equal(usedBytes(none), null)
  assert.equal(usedBytes({ ...none, container_bytes: 5 }), 5)
  assert.equal(usedBytes({ ...none, volume_bytes: 7 }), 7)
  assert.equal(workspaceBytes({ ...none, reported_bytes: 9, volume_bytes: 7 }), 9)
  assert.equal(usedBytes({ reported_bytes: 1, volume_bytes: 7, container_bytes: 5 }), 12, 'a lie is no use')
})

test('low from 80 % on, full from 100 % on, and never with an unlimited quota', () => {
  const cases: [number | null, number, DiskUsage['state']][] = [
    [null, 100, 'ok'],
    [79, 100, 'ok'],
    [80, 100, 'low'],
    [99, 100, 'low'],
    [100, 100, 'full'],
    [1_000_000, 0, 'ok'],
  ]
  for (const [used_bytes, quota_bytes, state] of cases)
    assert.equal(stateOf({ used_bytes, quota_bytes }), state)
})

test('a figure counts as changed from more than 1 % on', () => {
  assert.equal(hasChanged(1000, 1010), false)
  assert.equal(hasChanged(1000, 1011), true)
  assert.equal(hasChanged(1000, 989), true)
  assert.equal(hasChanged(null, 0), true)
  assert.equal(hasChanged(0, 0), false)
})

test('only a full agent has no room', () => {
  requireDiskRoom({ name: 'ada', disk_state: 'low' })
  assert.throws(() => requireDiskRoom({ name: 'ada', disk_state: 'full' }), { code: 'disk_quota_reached' })
})

forEachDialect((_, open) => {
  async function openWorld() {
    const { alerts, raised, cleared } = createTestAlerts()
    const db = await open()
    const world = await openAgents(db, { alerts })
    const admin = await world.person('admin')
    await world.request(admin.key, 'POST', '/api/agents', { name: 'ada' })
    const { id } = await world.row('ada')
    const disk = world.area.disk
    const [loop] = disk.loops
    return {
      world,
      openAgain: db.openAgain,
      admin,
      id,
      disk,
      raised,
      cleared,
      view: async () => (await world.request(admin.key, 'GET', '/api/agents/ada/disk')).json,
      setQuota: (quota_bytes: number | null, key = admin.key) =>
        world.request(key, 'PUT', '/api/agents/ada/disk', { quota_bytes }),
      wakes: () => world.link.calls.filter(({ agentId, t }) => agentId === id && t === 'wake').length,
      measure: () => loop?.run(new AbortController().signal),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    }
  }

  test('a report moves the state, with an alert at 80 % that clears below', async () => {
    await using t = await openWorld()
    assert.equal((await t.setQuota(50 * megabyte)).status, 200)
    await t.disk.reported(t.id, 30 * megabyte)
    assert.equal((await t.view()).state, 'ok')
    await t.disk.reported(t.id, 40 * megabyte)
    assert.equal((await t.view()).state, 'low')
    await t.disk.reported(t.id, 60 * megabyte)
    const { state, used_bytes, quota_bytes } = await t.view()
    assert.deepEqual([state, used_bytes, quota_bytes], ['full', 60 * megabyte, 50 * megabyte])
    assert.deepEqual(
      t.raised.map(({ kind, priority, agentId }) => [kind, priority, agentId]),
      [
        ['disk_quota', 'medium', t.id],
        ['disk_quota', 'high', t.id],
      ],
    )
    assert.equal(t.raised[1]?.title, '"ada" has used up its disk quota: 57.2 MB of 47.7 MB')
    assert.deepEqual(t.cleared, [])
    const wakes = t.wakes()
    await t.disk.reported(t.id, 10 * megabyte)
    assert.equal((await t.view()).state, 'ok')
    assert.deepEqual(t.cleared, [{ agentId: t.id, kind: 'disk_quota' }])
    assert.equal(t.wakes(), wakes + 1, 'waiting runs start')
  })

  test('reports that change the figure by 1 % or less write nothing, unless they cross a limit', async () => {
    await using t = await openWorld()
    await t.setQuota(100 * megabyte)
    await t.disk.reported(t.id, 79.5 * megabyte)
    const before = await t.view()
    t.world.clock.set(new Date(t.world.clock.now().getTime() + 60_000))
    await t.disk.reported(t.id, 79.6 * megabyte)
    assert.deepEqual(await t.view(), before)
    await t.disk.reported(t.id, 80.1 * megabyte)
    assert.equal((await t.view()).state, 'low')
    assert.equal((await t.view()).used_bytes, 80.1 * megabyte)
  })

  test('a full agent starts no run and takes no file, and a higher quota reopens it', async () => {
    await using t = await openWorld()
    const isClosed = () => t.world.db.atomically((tx) => t.world.area.runContexts.isClosedForRuns(tx, t.id))
    await t.setQuota(50 * megabyte)
    await t.disk.reported(t.id, 50 * megabyte)
    assert.equal(await isClosed(), true)
    assert.equal((await t.world.area.runContexts.find(t.id))?.disk_state, 'full')
    const { key } = t.admin
    const refused = [
      await t.world.request(key, 'PUT', '/api/agents/ada/files?path=note.txt', { content: 'x' }),
      await t.world.request(key, 'POST', '/api/agents/ada/files/mkdir', { path: 'folder' }),
      await t.world.request(key, 'POST', '/api/agents/ada/credentials/inject', { files: { '.env': 'A=1' } }),
    ]
    for (const { status, json: body } of refused) {
      assert.deepEqual([status, body.error], [409, 'disk_quota_reached'], JSON.stringify(body))
      assert.match(body.detail, /disk quota: delete files or raise the quota/)
    }
    t.world.link.link(t.id, { 'fs.delete': async ({ path }) => ({ path }) })
    const removed = await t.world.request(key, 'DELETE', '/api/agents/ada/files?path=big.bin')
    assert.equal(removed.status, 200, 'deleting stays possible')
    const wakes = t.wakes()
    await t.setQuota(0)
    assert.equal((await t.view()).state, 'ok')
    assert.equal(await isClosed(), false)
    assert.equal(t.wakes(), wakes + 1)
  })

  test("the engine's figures count without a report, and against one that is too low", async () => {
    await using t = await openWorld()
    await t.setQuota(50 * megabyte)
    const row = await t.world.row('ada')
    const { workspace, shared } = volumesOf(row)
    t.world.engine.fill(workspace, 30 * megabyte)
    t.world.engine.fill(shared, 5 * megabyte)
    t.world.engine.use(row.container_id ?? '', { layerBytes: 7 * megabyte })
    await t.measure()
    const { workspace_bytes, container_bytes, used_bytes, state } = await t.view()
    assert.deepEqual(
      [workspace_bytes, container_bytes, used_bytes, state],
      [35 * megabyte, 7 * megabyte, 42 * megabyte, 'low'],
    )
    await t.disk.reported(t.id, 0)
    assert.equal((await t.view()).used_bytes, 42 * megabyte)
    t.world.engine.fill(workspace, 90 * megabyte)
    await t.measure()
    assert.equal((await t.view()).state, 'full')
  })

  test("the copy of a shared folder on a reader's machine does not replace the figures of the agent's own", async () => {
    await using t = await openWorld()
    await t.setQuota(50 * megabyte)
    t.world.engine.fill(volumesOf(await t.world.row('ada')).workspace, 60 * megabyte)
    await t.measure()
    assert.equal((await t.view()).state, 'full')
    const shared = createShared({ engineId: 'of the reader' })
    await using other = await openAgents(await t.openAgain(), { shared })
    await other.containers.createVolume(volumesOf(await t.world.row('ada')).shared, {})
    await other.area.disk.loops[0]?.run(new AbortController().signal)
    assert.deepEqual([(await t.view()).used_bytes, (await t.view()).state], [60 * megabyte, 'full'])
  })

  test('an engine that cannot measure is asked again, and reports still count', async () => {
    await using t = await openWorld()
    await t.setQuota(50 * megabyte)
    t.world.engine.failNext('diskFigures', 'engine_fault')
    await t.measure()
    await t.disk.reported(t.id, 45 * megabyte)
    assert.equal((await t.view()).state, 'low')
    t.world.engine.fill(volumesOf(await t.world.row('ada')).workspace, 60 * megabyte)
    await t.measure()
    assert.equal((await t.view()).state, 'full')
  })

  test('a new default applies with the next measurement, except to agents with a quota', async () => {
    await using t = await openWorld()
    await t.disk.reported(t.id, 45 * megabyte)
    assert.equal((await t.view()).state, 'ok')
    t.world.platform.disk = 50 * megabyte
    await t.measure()
    const { state, own_quota_bytes, default_quota_bytes } = await t.view()
    assert.deepEqual([state, own_quota_bytes, default_quota_bytes], ['low', null, 50 * megabyte])
    await t.setQuota(0)
    assert.equal((await t.view()).state, 'ok')
    await t.setQuota(null)
    assert.equal((await t.view()).state, 'low')
  })

  test('concurrent measurements raise one alert for each state', async () => {
    await using t = await openWorld()
    await t.setQuota(50 * megabyte)
    await Promise.all([45, 46, 47, 48].map((size) => t.disk.reported(t.id, size * megabyte)))
    assert.deepEqual(
      t.raised.map(({ kind }) => kind),
      ['disk_quota'],
    )
  })

  test('only admins set a quota, and a quota below 10 MB is refused', async () => {
    await using t = await openWorld()
    const creator = await t.world.person('creator')
    await t.world.request(creator.key, 'POST', '/api/agents', { name: 'own' })
    const reply = await t.world.request(creator.key, 'PUT', '/api/agents/own/disk', { quota_bytes: 0 })
    assert.deepEqual([reply.status, reply.json.error], [403, 'admin_required'])
    for (const quota_bytes of [-1, 1, 9_999_999, 0.5, '50']) {
      const { status } = await t.world.request(t.admin.key, 'PUT', '/api/agents/ada/disk', { quota_bytes })
      assert.equal(status, 422, String(quota_bytes))
    }
    const missing = await t.world.request(t.admin.key, 'PUT', '/api/agents/none/disk', { quota_bytes: 0 })
    assert.equal(missing.json.error, 'agent_not_found')
  })

  test('details and the report for operators have usage and state', async () => {
    await using t = await openWorld()
    await t.setQuota(50 * megabyte)
    const { agents, ...before } = await t.disk.report()
    assert.deepEqual([agents > 0, before], [true, { measured: 0, low: [], full: [] }])
    await t.disk.reported(t.id, 50 * megabyte)
    const { json: body } = await t.world.request(t.admin.key, 'GET', '/api/agents/ada')
    assert.deepEqual(body.disk, { used_bytes: 50 * megabyte, quota_bytes: 50 * megabyte, state: 'full' })
    const { measured, full } = await t.disk.report()
    assert.deepEqual([measured, full], [1, ['ada']])
  })
})
