import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentStore, blankRow } from '../../agents/records/index.ts'
import { Fault } from '../../kit/fault.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import {
  accept,
  agentFact,
  linked,
  person,
  type RunPlatform,
  resultOf,
  startRunPlatform,
} from '../../test/run-platform.ts'
import { sourceOf } from '../dispatch/index.ts'
import { executionStore } from '../executions/index.ts'
import { createBreakers } from './service.ts'

type Failure = 'auth' | 'billing' | 'agent_error'

forEachDialect((_, open) => {
  async function start({ toggle = true, platformOn = true } = {}) {
    const db = await open()
    const clock = createTestClock()
    const isPlatformEnabled = () => platformOn
    const { alerts, raised } = createTestAlerts()
    const options = { db, clock, isBreakerEnabled: isPlatformEnabled, alerts }
    const platform = await startRunPlatform(options)
    await agentStore(db).insert({
      ...blankRow('scout', '2026-01-05T08:00:00.000Z'),
      id: 'a1',
      circuit_breaker_enabled: toggle ? 1 : 0,
    })
    platform.agents.set('a1', agentFact({ effective_slots: 9 }))
    const breakers = createBreakers({ db, clock, isPlatformEnabled })
    const view = () => breakers.view({ id: 'a1', name: 'scout', circuit_breaker_enabled: toggle })
    return { db, clock, platform, breakers, view, raised }
  }

  async function claimOne(platform: RunPlatform) {
    const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    return runs[0] ?? assert.fail('no run was claimed')
  }
  /** Runs one run from acceptance to its end; null ends it as successful. */
  async function runOnce(platform: RunPlatform, code: Failure | null): Promise<string> {
    const { id } = await accept(platform)
    await end(platform, await claimOne(platform), code)
    return id
  }
  async function end(
    platform: RunPlatform,
    run: { execution_id: string; claim_token: number },
    code: Failure | null,
  ) {
    const failed = { status: 'failed', response: null, error: 'no', error_code: code } as const
    await platform.dispatch.handlers.result(linked, resultOf(run, code === null ? {} : failed))
  }
  const isOpenFault = (seconds: number) => (error: unknown) =>
    error instanceof Fault && error.code === 'circuit_open' && error.fields.retry_after_seconds === seconds
  const several = (platform: RunPlatform, count: number, entering: number) =>
    platform.dispatch.transaction((tx) => {
      const request = {
        agentId: 'a1',
        kind: 'task' as const,
        triggeredBy: 'fan_out' as const,
        message: 'do it',
        source: sourceOf(person(), null),
      }
      return platform.dispatch.enqueueAll(tx, agentFact(), Array(count).fill(request), entering)
    })

  test('three consecutive refused runs open it: circuit_open for new runs, queued ones fail', async () => {
    const { platform, view, raised } = await start()
    await runOnce(platform, 'auth')
    await runOnce(platform, 'billing')
    await accept(platform)
    assert.deepEqual(raised, [])
    const third = await claimOne(platform)
    const waiting = [await accept(platform), await accept(platform, { triggeredBy: 'loop' })]
    await end(platform, third, 'auth')
    for (const { id } of waiting) {
      const row = await platform.row(id)
      assert.deepEqual([row.status, row.error_code], ['failed', 'circuit_open'])
    }
    await assert.rejects(accept(platform), isOpenFault(60))
    await assert.rejects(accept(platform, { kind: 'chat', triggeredBy: 'chat' }), isOpenFault(60))
    await assert.rejects(several(platform, 3, 3), isOpenFault(60))
    assert.deepEqual(
      raised.map(({ kind }) => kind),
      ['breaker_open'],
    )
    const { open, dispatch } = await view()
    assert.deepEqual([open, dispatch], [true, { state: 'open', failure_count: 3, retry_after_seconds: 60 }])
  })

  test('each refused request leaves one failed record with two events, ignored by the breaker', async () => {
    const { platform, view, db } = await start()
    for (let time = 0; time < 3; time += 1) await runOnce(platform, 'auth')
    const before = (await view()).dispatch
    const newest = () => executionStore(db).list({ agentId: 'a1' }, { limit: 3, offset: 0 })
    const [last] = await newest()
    await assert.rejects(accept(platform, { message: 'later', sessionId: 's1', kind: 'chat' }))
    await assert.rejects(several(platform, 3, 2))
    const rows = (await newest()).filter(({ id }) => id !== last?.id)
    assert.deepEqual(
      rows.map(({ status, error_code, message, queued_at, started_at, session_id, fan_out_id }) => [
        ...[status, error_code, message],
        ...[queued_at, started_at, session_id, fan_out_id],
      ]),
      ['do it', 'later'].map((message) => ['failed', 'circuit_open', message, null, null, null, null]),
    )
    for (const { id, error, completed_at, created_at } of rows) {
      assert.match(error ?? '', /breaker/)
      assert.equal(completed_at, created_at)
      await platform.events.relaying.pass()
      const events = (await platform.events.after(0, 1000)).filter(({ fields }) => fields.execution_id === id)
      assert.deepEqual(
        events.map(({ type, fields }) => [type, fields.status]),
        [
          ['execution.created', 'failed'],
          ['execution.finished', 'failed'],
        ],
      )
    }
    assert.deepEqual((await view()).dispatch, before)
  })

  test('each queued run has one finished event when it opens', async () => {
    const { platform } = await start()
    for (let time = 0; time < 2; time += 1) await runOnce(platform, 'auth')
    await accept(platform)
    const third = await claimOne(platform)
    const waiting = await accept(platform)
    await end(platform, third, 'auth')
    await platform.events.relaying.pass()
    const events = (await platform.events.after(0, 1000)).filter(
      ({ type, fields }) => type === 'execution.finished' && fields.execution_id === waiting.id,
    )
    assert.deepEqual(
      events.map(({ fields }) => [fields.status, fields.error_code]),
      [['failed', 'circuit_open']],
    )
  })

  test('a cancelled run is ignored; another failure resets the streak', async () => {
    const { platform, view } = await start()
    for (let time = 0; time < 2; time += 1) await runOnce(platform, 'auth')
    const row = await accept(platform)
    await platform.executions.terminate(
      { caller: person({ role: 'admin' }), agentId: 'a1', relation: 'admin' },
      row.id,
    )
    assert.equal((await view()).dispatch.failure_count, 2)
    await runOnce(platform, 'agent_error')
    assert.equal((await view()).dispatch.failure_count, 0)
  })

  test('while off at the agent or the platform it counts failures and refuses nothing', async () => {
    for (const toggles of [{ toggle: false }, { platformOn: false }]) {
      const { platform, view } = await start(toggles)
      for (let time = 0; time < 4; time += 1) await runOnce(platform, 'auth')
      const { open, dispatch, warning } = await view()
      assert.deepEqual([open, dispatch.state, dispatch.failure_count], [false, 'closed', 4])
      assert.equal(warning !== undefined, toggles.platformOn === false)
    }
  })

  test('half open, one of 20 concurrent runs is accepted; its success closes it', async () => {
    const { platform, clock, view } = await start()
    for (let time = 0; time < 3; time += 1) await runOnce(platform, 'auth')
    await clock.advance(60)
    assert.equal((await view()).dispatch.state, 'half_open')
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => accept(platform)))
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 19)
    for (const each of refused) assert.ok(each.status === 'rejected' && isOpenFault(10)(each.reason))
    await end(platform, await claimOne(platform), null)
    assert.deepEqual((await view()).dispatch, {
      state: 'closed',
      failure_count: 0,
      retry_after_seconds: null,
    })
    await accept(platform)
  })

  test('a failed probe doubles the wait; a cancelled one is replaced', async () => {
    const { platform, clock, view } = await start()
    for (let time = 0; time < 3; time += 1) await runOnce(platform, 'auth')
    await clock.advance(60)
    await runOnce(platform, 'billing')
    assert.equal((await view()).dispatch.retry_after_seconds, 120)
    await clock.advance(120)
    const probe = await accept(platform)
    const reader = { caller: person({ role: 'admin' }), agentId: 'a1', relation: 'admin' as const }
    await platform.executions.terminate(reader, probe.id)
    await runOnce(platform, null)
    assert.equal((await view()).dispatch.state, 'closed')
  })

  test('half open, only the first of several runs is queued', async () => {
    const { platform, clock, db } = await start()
    for (let time = 0; time < 3; time += 1) await runOnce(platform, 'auth')
    await clock.advance(60)
    const rows = await several(platform, 4, 3)
    const places = await Promise.all(
      rows.map(async ({ id }) => (await executionStore(db).byId(id))?.queued_at),
    )
    assert.deepEqual(
      places.map((at) => at !== null),
      [true, false, false, false],
    )
    await end(platform, await claimOne(platform), 'auth')
    for (const { id } of rows.slice(1)) assert.equal((await platform.row(id)).error_code, 'circuit_open')
  })

  test('a run that was cancelled before it could enter the queue does not stay the probe', async () => {
    const { platform, clock, db } = await start()
    for (let time = 0; time < 2; time += 1) await runOnce(platform, 'auth')
    const failed = await platform.row(await runOnce(platform, 'auth'))
    const retry = await db.atomically((tx) => platform.dispatch.planRetry(tx, failed, clock.now()))
    const reader = { caller: person({ role: 'admin' }), agentId: 'a1', relation: 'admin' as const }
    const stop = (id: string) => platform.executions.terminate(reader, id)
    await stop(retry.id)
    await clock.advance(60)
    const enter = db.atomically((tx) => platform.dispatch.enqueueRetry(tx, retry))
    assert.equal(await enter, false)
    const [first, second, third] = await several(platform, 3, 1)
    assert.ok(first && second && third)
    await stop(first.id)
    await stop(second.id)
    await db.atomically((tx) => platform.dispatch.release(tx, 'a1', async () => [second.id, third.id]))
    assert.notEqual((await platform.row(third.id)).queued_at, null)
    await end(platform, await claimOne(platform), null)
    await accept(platform)
  })

  test('runs accepted while it opens are refused or fail; none stays queued', async () => {
    const { platform, db } = await start()
    for (let time = 0; time < 2; time += 1) await runOnce(platform, 'auth')
    await accept(platform)
    const third = await claimOne(platform)
    const [, ...outcomes] = await Promise.allSettled([
      end(platform, third, 'auth'),
      ...Array.from({ length: 20 }, () => accept(platform)),
    ])
    const accepted = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value.id] : []))
    for (const id of accepted) assert.equal((await platform.row(id)).error_code, 'circuit_open')
    const left = await executionStore(db).list({ agentId: 'a1', status: 'queued' }, { limit: 50, offset: 0 })
    assert.equal(left.length, 0)
  })

  test('a reset closes both and returns their states; deleting the agent deletes them', async () => {
    const { platform, breakers, db, view } = await start()
    for (let time = 0; time < 3; time += 1) await runOnce(platform, 'auth')
    const { prior_dispatch_state, prior_transport_state, new_state } = await breakers.reset({
      id: 'a1',
      name: 'scout',
    })
    assert.deepEqual([prior_dispatch_state, prior_transport_state, new_state], ['open', 'closed', 'closed'])
    await accept(platform)
    assert.equal((await breakers.dispatchStates()).size, 0)
    await end(platform, await claimOne(platform), 'auth')
    await db.atomically((tx) => breakers.forget(tx, 'a1'))
    assert.equal((await view()).dispatch.failure_count, 0)
  })

  test('other processes and the next start see the same breaker', async () => {
    await using db = await open()
    const clock = createTestClock()
    const on = { clock, isBreakerEnabled: () => true }
    const first = await startRunPlatform({ db, ...on })
    await agentStore(db).insert({
      ...blankRow('scout', '2026-01-05T08:00:00.000Z'),
      id: 'a1',
      circuit_breaker_enabled: 1,
    })
    await using again = await db.openAgain()
    const second = await startRunPlatform({ db: again, ...on })
    await runOnce(first, 'auth')
    await runOnce(second, 'auth')
    await runOnce(first, 'auth')
    await assert.rejects(accept(second), isOpenFault(60))
  })
})
