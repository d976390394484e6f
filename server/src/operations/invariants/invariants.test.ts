import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentStore, blankRow } from '../../agents/records/index.ts'
import { silentLog } from '../../ports/log.ts'
import { runRetention } from '../../runs/retention/index.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import {
  accept,
  linked,
  person,
  type RunPlatform,
  resultOf,
  startRunPlatform,
} from '../../test/run-platform.ts'
import { internalInvariantRoutes, invariantRoutes } from './routes.ts'
import { createInvariants } from './service.ts'

type Tables = {
  executions: { id: string; status: string; lease_expires_at: string | null; business_status: string | null }
  outbox: { sequence: number; type: string; position: number | null }
  fan_outs: {
    id: string
    agent_id: string
    max_concurrency: number
    created_at: string
    completed_at: string | null
  }
}

forEachDialect((_, open) => {
  async function start({ isLinked = true } = {}) {
    const db = await open()
    const clock = createTestClock()
    const platform = await startRunPlatform({ db, clock })
    const row = { ...blankRow('scout', '2026-01-05T08:00:00.000Z'), id: 'a1' }
    await agentStore(db).insert({ ...row, desired: 'running', status: 'running', state: 'ready' })
    const invariants = createInvariants({
      db,
      clock,
      limitOf: async ({ max_parallel_tasks }) => max_parallel_tasks,
      isLinked: () => isLinked,
      unreachable: async () => new Set(),
      schedulesCount: async () => 0,
    })
    /** Violations are checked again after three seconds. */
    const check = async (meanwhile: () => Promise<unknown> = async () => {}) => {
      const checking = invariants.check()
      const isAgain = await Promise.race([clock.waitingFor(3).then(() => true), checking.then(() => false)])
      if (isAgain) {
        await meanwhile()
        await clock.advance(3)
      }
      return checking
    }
    const tables = db.withTables<Tables>()
    return { db, clock, platform, invariants, check, tables }
  }
  async function claimOne(platform: RunPlatform) {
    const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    return runs[0] ?? assert.fail('nothing was handed out')
  }
  const rulesOf = (report: { violations: { rule: string }[] }) => report.violations.map(({ rule }) => rule)

  test('runs in every state are consistent, and the report counts them', async () => {
    const { platform, check } = await start()
    for (let time = 0; time < 3; time += 1) {
      await accept(platform)
      await platform.dispatch.handlers.result(linked, resultOf(await claimOne(platform)))
    }
    await accept(platform)
    await claimOne(platform)
    const cancelled = await accept(platform)
    const reader = { caller: person({ role: 'admin' }), agentId: 'a1', relation: 'admin' as const }
    await platform.executions.terminate(reader, cancelled.id)
    await accept(platform)
    const report = await check()
    assert.deepEqual(report.violations, [])
    assert.equal(report.ok, true)
    assert.deepEqual(report.read, {
      executions: 6,
      queued: 1,
      running: 1,
      terminal: 4,
      events: 14,
      schedules: 0,
    })
  })

  test('retention of runs leaves no violations, with all runs deleted or with some that stay', async () => {
    const { db, platform, check, clock, tables } = await start()
    const one = async () => {
      const { id } = await accept(platform)
      await platform.dispatch.handlers.result(linked, resultOf(await claimOne(platform)))
      return id
    }
    const sweep = runRetention({
      ...{ db, clock, log: silentLog, hooks: platform.hooks, events: platform.events },
      alerts: createTestAlerts().alerts,
      settings: {
        value: () => 90,
        retention: { admit: async () => ({ isAdmitted: true, isNew: false }) },
      },
    })
    const stays = await one()
    await tables.updateTable('executions').set({ business_status: 'pending_validation' }).execute()
    await one()
    await platform.events.relaying.pass()
    clock.set(new Date(clock.now().getTime() + 91 * 86_400_000))
    await sweep.run(new AbortController().signal)
    const left = await tables.selectFrom('executions').select('id').execute()
    assert.deepEqual(
      left.map(({ id }) => id),
      [stays],
    )
    assert.deepEqual((await check()).violations, [])
    await one()
    await platform.events.relaying.pass()
    const report = await check()
    assert.deepEqual([report.violations, report.read.executions], [[], 1])
  })

  test('an empty platform has no violations and nothing was read', async () => {
    const { check } = await start()
    const { ok, read } = await check()
    assert.deepEqual([ok, read.executions, read.events], [true, 0, 0])
  })

  test('each kind of damage is found', async () => {
    const { platform, check, tables, clock } = await start()
    const rows = [await accept(platform), await accept(platform)]
    for (const _row of rows)
      await platform.dispatch.handlers.result(linked, resultOf(await claimOne(platform)))
    await tables
      .updateTable('executions')
      .set({ status: 'failed' })
      .where('id', '=', rows[0]?.id ?? '')
      .execute()
    await tables
      .deleteFrom('executions')
      .where('id', '=', rows[1]?.id ?? '')
      .execute()
    const leaseless = await accept(platform)
    await claimOne(platform)
    await tables
      .updateTable('executions')
      .set({ lease_expires_at: null })
      .where('id', '=', leaseless.id)
      .execute()
    const stuck = await accept(platform)
    await clock.advance(40)
    const { ok, violations } = await check()
    assert.equal(ok, false)
    assert.deepEqual(
      violations.map(({ rule, subject }) => [rule, subject]),
      [
        ['no_queued_beside_free_slot', 'scout'],
        ['no_running_without_lease', leaseless.id],
        ['no_event_without_row', rows[1]?.id],
        ['terminal_rows_unchanged', rows[0]?.id],
      ],
    )
    assert.ok(stuck.id)
  })

  test('a fan-out with a premature end event is found', async () => {
    const { platform, check, tables } = await start()
    const at = '2026-01-05T08:00:00.000Z'
    const fanOut = { id: 'fo_1', agent_id: 'a1', max_concurrency: 3, created_at: at, completed_at: at }
    await tables.insertInto('fan_outs').values(fanOut).execute()
    await accept(platform, { triggeredBy: 'fan_out', links: { fanOutId: 'fo_1' } })
    assert.deepEqual(rulesOf(await check()), ['fan_outs_follow_their_runs'])
    await tables.updateTable('fan_outs').set({ completed_at: null }).execute()
    assert.deepEqual(rulesOf(await check()), [])
  })

  test('a transient violation is not reported: the second check does not find it', async () => {
    const { platform, check, clock } = await start()
    await accept(platform)
    await clock.advance(40)
    assert.deepEqual(rulesOf(await check(() => claimOne(platform))), [])
    await accept(platform)
    await clock.advance(40)
    assert.deepEqual(rulesOf(await check()), ['no_queued_beside_free_slot'])
  })

  test('runs of an unreachable agent may wait', async () => {
    const { platform, check, clock } = await start({ isLinked: false })
    await accept(platform)
    await clock.advance(400)
    assert.deepEqual(rulesOf(await check()), [])
  })

  test('events removed by retention are not reported as missing', async () => {
    const { platform, check, tables, clock } = await start()
    await accept(platform)
    await platform.dispatch.handlers.result(linked, resultOf(await claimOne(platform)))
    await clock.advance(120)
    await accept(platform)
    await platform.events.relaying.pass()
    await tables.deleteFrom('outbox').where('position', '<=', 3).execute()
    assert.deepEqual(rulesOf(await check()), [])
  })

  test('a busy platform has no violations', async () => {
    const { platform, check } = await start()
    const work = async () => {
      for (let time = 0; time < 10; time += 1) {
        await accept(platform)
        await platform.dispatch.handlers.result(linked, resultOf(await claimOne(platform)))
      }
    }
    const reports = Promise.all(Array.from({ length: 10 }, () => check()))
    await Promise.all([work(), reports])
    for (const { violations } of await reports) assert.deepEqual(violations, [])
  })

  test('403 for callers other than admins; the internal listener needs no credential', async () => {
    const { invariants } = await start()
    const opsKey = {
      kind: 'key' as const,
      user: person({ role: 'admin' }).user,
      key: { id: 'k', name: 'ops', scope: 'ops' as const, agent_id: null },
    }
    const app = routesApp([...invariantRoutes(invariants), ...internalInvariantRoutes(invariants)], {
      ann: { caller: person(), relation: null },
      admin: { caller: person({ role: 'admin' }), relation: null },
      ops: { caller: opsKey, relation: null },
    })
    const get = (path: string, who: string) => app.inject({ url: path, headers: as(who) })
    assert.equal((await get('/api/ops/invariants', 'ann')).json().error, 'admin_required')
    assert.equal((await get('/api/ops/invariants', 'ops')).json().error, 'scope_not_allowed')
    assert.equal((await get('/api/ops/invariants', 'admin')).json().ok, true)
    assert.equal((await get('/api/internal/invariants', 'platform')).json().ok, true)
  })
})
