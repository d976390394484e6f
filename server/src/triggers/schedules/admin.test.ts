import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../ports/log.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { insertRuns } from '../../test/run-rows.ts'
import { openHelper } from '../test/schedules-world.ts'
import { scheduleRetention } from './index.ts'
import { scheduleStore } from './store.ts'

const url = '/api/agents/helper/schedules'
const day = 24 * 3600

forEachDialect((_dialect, open) => {
  test('admins see and recover deleted schedules, as disabled and within the current cap', async () => {
    await using it = await openHelper(await open())
    const made = await it.create({ timeout_seconds: 1800, deliver_to_workspace_email: 'sam@example.com' })
    const other = await it.create({ name: 'other' })
    await it.request(it.owner.key, 'DELETE', `${url}/${made.id}`)
    await it.request(it.owner.key, 'PUT', '/api/agents/helper/timeout', { execution_timeout_seconds: 600 })
    const listed = await it.request(it.admin.key, 'GET', '/api/admin/soft-deleted/schedules')
    assert.deepEqual(listed.json, [
      {
        id: made.id,
        agent_name: 'helper',
        name: 'nightly',
        deleted_at: '2030-01-01T00:00:00.000Z',
        purge_at: '2030-01-31T00:00:00.000Z',
      },
    ])
    const recover = (id: string, key = it.admin.key) =>
      it.request(key, 'POST', `/api/admin/soft-deleted/schedules/${id}/recover`)
    assert.equal((await recover(made.id, it.owner.key)).json.error, 'admin_required')
    assert.equal((await recover(other.id)).json.error, 'schedule_not_found')
    const back = await recover(made.id)
    assert.deepEqual(
      [back.status, back.json.enabled, back.json.timeout_seconds, back.json.deleted_at, back.json.name],
      [200, false, 600, null, 'nightly'],
    )
    assert.equal((await recover(made.id)).json.error, 'schedule_not_found')
    assert.equal((await it.request(it.owner.key, 'GET', url)).json.length, 2)
    assert.equal((await it.request(it.owner.key, 'GET', '/api/admin/soft-deleted/schedules')).status, 403)
  })

  test('schedules past their retention are purged, others stay', async () => {
    const db = await open()
    await using it = await openHelper(db)
    const old = await it.create({ name: 'old' })
    await it.request(it.owner.key, 'DELETE', `${url}/${old.id}`)
    await it.clock.advance(20 * day)
    const young = await it.create({ name: 'young' })
    await it.request(it.owner.key, 'DELETE', `${url}/${young.id}`)
    await it.create({ name: 'live' })
    await it.clock.advance(11 * day)
    const retentionDays = () => it.retention.days
    const purge = scheduleRetention({ db, clock: it.clock, log: silentLog, retentionDays })
    await purge.run(new AbortController().signal)
    const names = (await it.schedules.changesAfter(0, 10)).map(({ name }) => name)
    assert.deepEqual(names, ['young', 'live'])
  })

  test('deleting an agent deletes its schedules for good; a new agent of the name has none', async () => {
    await using it = await openHelper(await open())
    const made = await it.create()
    await it.request(it.owner.key, 'DELETE', '/api/agents/helper')
    assert.deepEqual((await it.request(it.admin.key, 'GET', '/api/admin/soft-deleted/schedules')).json, [])
    const back = await it.request(
      it.admin.key,
      'POST',
      `/api/admin/soft-deleted/schedules/${made.id}/recover`,
    )
    assert.equal(back.json.error, 'schedule_not_found')
    const deleted = await it.schedules.changesAfter(0, 10)
    assert.deepEqual(
      deleted.map(({ deleted_at }) => deleted_at !== null),
      [true],
    )
    await it.request(it.owner.key, 'POST', '/api/agents', { name: 'helper' })
    assert.deepEqual((await it.request(it.owner.key, 'GET', url)).json, [])
    assert.equal(
      (await it.request(it.owner.key, 'POST', url, { name: 'x', cron_expression: '* * * * *', message: 'y' }))
        .status,
      201,
    )
  })

  test('no schedule of twenty that are created during the deletion of their agent outlives it', async () => {
    await using it = await openHelper(await open())
    const request = { name: 'late', cron_expression: '* * * * *', message: 'x' }
    const replies = await Promise.all([
      ...Array.from({ length: 10 }, () => it.request(it.owner.key, 'POST', url, request)),
      it.request(it.owner.key, 'DELETE', '/api/agents/helper'),
      ...Array.from({ length: 10 }, () => it.request(it.owner.key, 'POST', url, request)),
    ])
    assert.ok(replies.every(({ status }) => [200, 201, 204, 404].includes(status)))
    assert.equal(await it.schedules.schedulesCount(), 0)
  })

  test('schedules follow a rename', async () => {
    await using it = await openHelper(await open())
    const made = await it.create()
    await it.request(it.owner.key, 'PUT', '/api/agents/helper/rename', { new_name: 'aide' })
    const { json } = await it.request(it.owner.key, 'GET', `/api/agents/aide/schedules/${made.id}`)
    assert.deepEqual([json.id, json.agent_name], [made.id, 'aide'])
  })

  test('hooks run when a schedule is deleted, alone or with its agent', async () => {
    await using it = await openHelper(await open())
    const ended: string[] = []
    it.schedules.onDeleted(async (_tx, { name }) => void ended.push(name))
    const one = await it.create({ name: 'one' })
    await it.create({ name: 'two' })
    await it.request(it.owner.key, 'DELETE', `${url}/${one.id}`)
    await it.request(it.owner.key, 'DELETE', '/api/agents/helper')
    assert.deepEqual(ended, ['one', 'two'])
  })

  test('admins list all schedules with their last run; pause and resume change enabled ones only', async () => {
    const db = await open()
    await using it = await openHelper(db)
    const on = await it.create({ name: 'on' })
    const off = await it.create({ name: 'off', enabled: false })
    const touched = await it.create({ name: 'touched' })
    await insertRuns(db, [{ id: 'r1', agent_id: it.agentId, schedule_id: on.id, status: 'failed' }])
    const ops = (path = '') => it.request(it.admin.key, 'GET', `/api/ops/schedules${path}`)
    const all = (await ops()).json
    assert.deepEqual(all.summary, { total: 3, enabled: 2, disabled: 1, agents_with_schedules: 1 })
    assert.deepEqual(
      all.schedules.map((each: { name: string; last_execution: { id: string } | null }) => [
        each.name,
        each.last_execution?.id,
      ]),
      [
        ['touched', undefined],
        ['off', undefined],
        ['on', 'r1'],
      ],
    )
    assert.equal((await ops('?enabled_only=true')).json.schedules.length, 2)
    assert.equal((await ops('?agent_name=helper')).json.schedules.length, 3)
    assert.equal((await ops('?agent_name=nobody')).json.error, 'agent_not_found')
    assert.equal((await it.request(it.owner.key, 'GET', '/api/ops/schedules')).status, 403)

    const post = (path: string, body?: object) =>
      it.request(it.admin.key, 'POST', `/api/ops/schedules/${path}`, body)
    assert.equal((await post('pause')).json.paused_count, 2)
    assert.equal((await post('pause', { agent_name: 'helper' })).json.paused_count, 0)
    await it.request(it.owner.key, 'POST', `${url}/${touched.id}/enable`)
    await it.request(it.owner.key, 'POST', `${url}/${touched.id}/disable`)
    await it.clock.advance(60)
    assert.equal((await post('resume')).json.resumed_count, 1)
    const enabled = (await it.request(it.owner.key, 'GET', url)).json.map(
      (each: { name: string; enabled: boolean }) => [each.name, each.enabled],
    )
    assert.deepEqual(enabled, [
      ['touched', false],
      ['off', false],
      ['on', true],
    ])
    assert.equal((await it.schedules.byId(on.id))?.armed_at, '2030-01-01T00:01:00.000Z')
    assert.equal((await it.schedules.byId(off.id))?.is_paused, 0)
  })

  test('a template’s schedules are created with the agent; creators may change their own schedules', async () => {
    await using it = await openHelper(await open())
    const agent = await it.row('helper')
    const entry = { message: 'go', timezone: 'UTC', description: null }
    const facts = await it.db.atomically((tx) =>
      it.area.hooks.created(tx, {
        skills: [],
        credentialSetup: [],
        agent,
        ownerId: it.owner.id,
        now: it.clock.now(),
        schedules: [
          { ...entry, name: 'one', cron: '0 9 * * MON-FRI', enabled: true },
          { ...entry, name: 'two', cron: '*/5 * * * *', enabled: false, timezone: 'US/Eastern' },
        ],
      }),
    )
    assert.equal(facts.schedules_created, 2)
    const made = (await it.request(it.owner.key, 'GET', url)).json
    assert.deepEqual(
      made.map((each: Record<string, unknown>) => [
        each.name,
        each.cron_expression,
        each.enabled,
        each.created_by,
      ]),
      [
        ['two', '*/5 * * * *', false, 'ann@example.com'],
        ['one', '0 9 * * MON-FRI', true, 'ann@example.com'],
      ],
    )
  })

  test("a fork runs copies of another person's schedules for that person", async () => {
    await using it = await openHelper(await open())
    await it.create({ name: 'theirs' }, it.shared.key)
    await it.create({ name: 'own' })
    assert.equal((await it.request(it.owner.key, 'POST', '/api/agents', { name: 'copy' })).status, 200)
    const [source, fork] = [await it.row('helper'), await it.row('copy')]
    const by = (await it.identity.keys.verifyKey(it.owner.key)) ?? assert.fail('no caller')
    await it.db.atomically((tx) =>
      it.area.hooks.forked(tx, {
        ...{ source, fork, by, withSchedules: true, withCredentials: true, now: it.clock.now() },
      }),
    )
    const copies = await scheduleStore(it.db).ofAgent(fork.id)
    assert.deepEqual(
      Object.fromEntries(
        copies.map((each) => [
          each.name,
          [each.principal, each.created_by_id, each.disabled_reason !== null],
        ]),
      ),
      {
        theirs: [`user:${it.shared.id}`, null, true],
        own: [`user:${it.owner.id}`, it.owner.id, false],
      },
    )
  })

  test('other features can count the schedules', async () => {
    await using it = await openHelper(await open())
    await it.create()
    await it.create({ enabled: false })
    const deleted = await it.create()
    await it.request(it.owner.key, 'DELETE', `${url}/${deleted.id}`)
    assert.deepEqual(await it.schedules.scheduleCounts(), new Map([[it.agentId, { total: 2, enabled: 1 }]]))
    assert.equal(await it.schedules.schedulesCount(), 2)
    const { json } = await it.request(it.owner.key, 'GET', '/api/agents/autonomy-status')
    assert.deepEqual([json.helper.total_schedules, json.helper.enabled_schedules], [2, 1])
  })
})
