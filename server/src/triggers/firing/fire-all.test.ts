import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExecuteTasks } from '@roost/contracts/triggers/firing'
import type { KyselyPlugin } from 'kysely'
import type { Db, Tx } from '../../ports/database/port.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { fireStore } from '../fires/index.ts'
import { dueAt, startFiringPlatform } from './test/firing-platform.ts'

const later = '2026-01-05T09:01:00.000Z'
const ids = (count: number) => Array.from({ length: count }, (_, index) => `s${index + 1}`)

async function start(db: Db, count: number, over: Parameters<typeof startFiringPlatform>[1] = {}) {
  const platform = await startFiringPlatform(db, over)
  for (const [index, id] of ids(count).entries()) await platform.addSchedule({ id, position: index + 1 })
  const ask = (dues: readonly { id: string; dueAt?: string }[], rehearsal = false) =>
    platform.execute.allAsPlatform(
      ExecuteTasks.parse({
        rehearsal,
        tasks: dues.map(({ id, ...due }) => ({
          agent_name: 'scout',
          schedule_id: id,
          due_at: due.dueAt ?? dueAt,
        })),
      }),
    )
  const askAll = async () => (await ask(ids(count).map((id) => ({ id })))).results
  return { ...platform, ask, askAll }
}

/** Counts the statements of transactions; rows that are sent in one call count once. */
function countStatements(db: Db): { db: Db; count(): number } {
  let count = 0
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      count += 1
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const counted = (tx: Tx): Tx => ({
    ...tx,
    withTables: <Tables>() => tx.withTables<Tables>().withPlugin(plugin),
    manyRows(statement, rows) {
      count += 1
      return tx.manyRows(statement, rows)
    },
  })
  return {
    db: { ...db, atomically: (work) => db.atomically((tx) => work(counted(tx))) },
    count: () => count,
  }
}

forEachDialect((_dialect, open) => {
  test('fires that are due together make a run each, in order, with their events', async () => {
    const platform = await start(await open(), 30)
    const results = await platform.askAll()
    assert.ok(results.every(({ status }) => status === 'accepted'))
    const runs = await platform.runs()
    assert.deepEqual(
      runs.map((run) => [run.schedule_id, run.queue_number, run.status, run.triggered_by]),
      ids(30).map((id, index) => [id, index + 1, 'queued', 'schedule']),
    )
    assert.deepEqual(
      results.map((result) => 'execution_id' in result && result.execution_id),
      runs.map((run) => run.id),
    )
    await platform.events.relaying.pass()
    const events = await platform.events.after(0, 1000)
    assert.equal(events.filter(({ type }) => type === 'execution.created').length, 30)
    assert.equal(events.filter(({ type }) => type === 'schedule.execution_started').length, 30)
    assert.equal(platform.link.calls.filter(({ t }) => t === 'wake').length, 1)
    assert.equal((await platform.firing.fires('s7', 9))[0]?.execution_id, runs[6]?.id)
  })

  test('a batch of many fires needs no more statements than a batch of one', async () => {
    const { db, count } = countStatements(await open())
    const platform = await start(db, 31)
    const fires = async (schedules: readonly string[]) => {
      const dues = schedules.map((id) => ({ id }))
      // A rehearsal compiles the statements, which would count as well.
      await platform.ask(dues, true)
      const before = count()
      await platform.ask(dues)
      return count() - before
    }
    const ofOne = await fires(ids(1))
    assert.ok(ofOne > 0)
    assert.equal(await fires(ids(31).slice(1)), ofOne)
    assert.equal((await platform.runs()).length, 31)
  })

  test('after the clock was set back, fires still queue behind earlier runs', async () => {
    const platform = await start(await open(), 3)
    const [schedule] = await platform.schedules.byIds(['s1'])
    assert.ok(schedule)
    await platform.firing.fire(schedule, { cause: 'manual' })
    platform.clock.set('2026-01-05T08:59:00.000Z')
    const due = '2026-01-05T08:59:00.000Z'
    await platform.ask(['s2', 's3'].map((id) => ({ id, dueAt: due })))
    const runs = await platform.runs()
    assert.deepEqual(runs.map((run) => run.schedule_id).toSorted(), ['s1', 's2', 's3'])
    assert.deepEqual(
      runs.map((run) => run.queued_at),
      [dueAt, dueAt, dueAt],
    )
  })

  test('a rehearsal stores nothing, calls no agent, and does not change the fires that follow', async () => {
    const platform = await start(await open(), 120)
    await platform.change('s2', { enabled: 0 })
    const dues = ids(120).map((id) => ({ id }))
    assert.deepEqual(await platform.ask(dues, true), { results: [] })
    assert.deepEqual(await platform.runs(), [])
    assert.deepEqual(await fireStore(platform.db).lastDue(later), new Map())
    assert.deepEqual(await platform.events.relaying.pass(), [])
    assert.deepEqual(platform.link.calls, [])
    // A rehearsal at the same time as the fires.
    const [, results] = await Promise.all([platform.ask(dues, true), platform.askAll()])
    assert.equal(results.filter(({ status }) => status === 'accepted').length, 119)
    const runs = await platform.runs()
    assert.deepEqual(
      runs.map((run) => run.queue_number),
      runs.map((_, index) => index + 1),
    )
    assert.equal(new Set(runs.map((run) => run.schedule_id)).size, 119)
  })

  test('twenty callers with the same fires make each run once and get the same results', async () => {
    const platform = await start(await open(), 10)
    const answers = await Promise.all(Array.from({ length: 20 }, platform.askAll))
    assert.equal((await platform.runs()).length, 10)
    for (const [index] of ids(10).entries()) {
      const own = answers.map((results) => results[index])
      assert.equal(new Set(own.map((one) => one && 'execution_id' in one && one.execution_id)).size, 1)
    }
  })

  test('an exceptional fire does not affect the others of its batch', async () => {
    const platform = await start(await open(), 6)
    await platform.change('s2', { enabled: 0 })
    await platform.change('s3', { deleted_at: dueAt })
    await platform.change('s4', { allowed_tools: 'no JSON' })
    await platform.change('s5', { deliver_to_workspace_email: 'ben@example.org' })
    platform.fakes.unreachable.add('ben@example.org')
    const { results } = await platform.ask([...ids(6), 's1'].map((id) => ({ id })))
    const last = results.pop()
    assert.deepEqual(
      results.map((result) => [result.status, 'reason' in result ? result.reason : null]),
      [
        ['accepted', null],
        ['suppressed', 'schedule_disabled'],
        ['suppressed', 'schedule_deleted'],
        ['refused', null],
        ['accepted', null],
        ['accepted', null],
      ],
    )
    assert.deepEqual(
      [last?.status, last && 'execution_id' in last && last.execution_id],
      ['accepted', results[0] && 'execution_id' in results[0] && results[0].execution_id],
      'a repeated fire returns its run',
    )
    const runs = await platform.runs()
    assert.deepEqual(runs.map((run) => [run.schedule_id, run.status, run.error_code]).sort(), [
      ['s1', 'queued', null],
      ['s5', 'failed', 'recipient_unreachable'],
      ['s6', 'queued', null],
    ])
    assert.equal((await fireStore(platform.db).open()).length, 0, 'no claim is left')
  })

  test('the second of two due times is skipped while the first runs; catch-up fires both run', async () => {
    const platform = await start(await open(), 2)
    const claim = (due_at: string) => ({
      ...{ schedule_id: 's2', due_at, agent_id: 'a1', is_catch_up: 1, outcome: null },
      ...{ reason: null, execution_id: null, recorded_at: dueAt },
    })
    await fireStore(platform.db).insertNew([claim(dueAt), claim(later)])
    await platform.clock.advance(120)
    const both = (id: string) => [{ id }, { id, dueAt: later }]
    const { results } = await platform.ask([...both('s1'), ...both('s2')])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['accepted', 'skipped', 'accepted', 'accepted'],
    )
    const again = await platform.ask([{ id: 's1', dueAt: '2026-01-05T09:02:00.000Z' }, { id: 's2' }])
    assert.deepEqual(again.results[0], {
      ...{ status: 'skipped', reason: 'previous_run_active' },
      execution_id: again.results[0] && 'execution_id' in again.results[0] && again.results[0].execution_id,
    })
    const skipped = (await platform.runs()).filter((run) => run.status === 'skipped')
    assert.deepEqual(
      skipped.map((run) => [run.schedule_id, run.skip_reason, run.cost_micros]),
      Array(2).fill(['s1', 'previous_run_active', 0]),
    )
  })

  test('fires that arrive early are held until they are due, and decided by the state at that time', async () => {
    const platform = await start(await open(), 3)
    platform.clock.set('2026-01-05T08:59:58.000Z')
    const replies = platform.askAll()
    await platform.clock.waitingFor(2)
    await platform.change('s2', { enabled: 0 })
    assert.deepEqual(await platform.runs(), [])
    await platform.clock.advance(2)
    assert.deepEqual(
      (await replies).map(({ status }) => status),
      ['accepted', 'suppressed', 'accepted'],
    )
    assert.equal((await platform.runs())[0]?.created_at, dueAt)
  })

  test('a run that ends while the next fire is held does not skip that fire', async () => {
    const platform = await start(await open(), 1)
    await platform.askAll()
    platform.clock.set('2026-01-05T09:00:58.000Z')
    const replies = platform.ask([{ id: 's1', dueAt: later }])
    await platform.clock.waitingFor(2)
    await platform.work()
    await platform.clock.advance(2)
    assert.deepEqual(
      (await replies).results.map(({ status }) => status),
      ['accepted'],
    )
  })

  test('409 for fires long before their due time', async () => {
    const platform = await start(await open(), 1)
    platform.clock.set('2026-01-05T08:59:50.000Z')
    await assert.rejects(platform.askAll(), { code: 'conflict' })
    assert.deepEqual(await platform.runs(), [])
  })

  test('the pre-check hook runs for each fire; a missing hook is looked up once', async () => {
    const platform = await start(await open(), 5)
    const hook = { hook_present: false, exit_code: null as number | null, stdout: '', stderr: '' }
    platform.link.link('a1', { precheck: () => hook })
    const calls = () => platform.link.calls.filter(({ t }) => t === 'precheck').length
    await platform.askAll()
    assert.equal(calls(), 1)
    for (const _ of ids(5)) await platform.work()
    await platform.clock.advance(60)
    Object.assign(hook, { hook_present: true, exit_code: 0, stdout: 'three new mails' })
    await platform.ask(ids(5).map((id) => ({ id, dueAt: later })))
    assert.equal(calls(), 1 + 5)
    const runs = (await platform.runs()).filter((run) => run.status === 'queued')
    assert.deepEqual([runs.length, ...new Set(runs.map((run) => run.message))], [5, 'three new mails'])
  })

  test('fires that wait for the pre-check hook of another fire are decided by the state after it', async () => {
    const platform = await start(await open(), 5)
    platform.link.link('a1', {
      async precheck() {
        await platform.change('s2', { enabled: 0 })
        await platform.change('s4', { deleted_at: dueAt })
        return { hook_present: false, exit_code: null, stdout: '', stderr: '' }
      },
    })
    const results = await platform.askAll()
    assert.deepEqual(
      results.map((result) => ('reason' in result ? result.reason : result.status)),
      ['accepted', 'schedule_disabled', 'accepted', 'schedule_deleted', 'accepted'],
    )
    assert.deepEqual(
      (await platform.runs()).map((run) => run.schedule_id),
      ['s1', 's3', 's5'],
    )
  })

  test('an open breaker skips the fires; a half-open one admits one as its probe', async () => {
    const platform = await start(await open(), 4, { isBreakerEnabled: () => true })
    await platform.patchAgent({ circuit_breaker_enabled: 1 })
    const failed = { status: 'failed', response: null, error: 'no', error_code: 'auth' } as const
    const reasonsAt = async (time: string) =>
      (await platform.ask(ids(4).map((id) => ({ id, dueAt: time })))).results
        .map((result) => ('reason' in result ? result.reason : result.status))
        .sort()
    await platform.askAll()
    for (let time = 0; time < 3; time += 1) await platform.work(failed)
    await platform.clock.advance(30)
    assert.deepEqual(await reasonsAt('2026-01-05T09:00:30.000Z'), Array(4).fill('circuit_open'))
    await platform.clock.advance(30)
    const half = await reasonsAt(later)
    assert.deepEqual(half, ['accepted', ...Array(3).fill('circuit_open')])
  })
})
