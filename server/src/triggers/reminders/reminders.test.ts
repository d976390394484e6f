import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import { sourceOf } from '../../runs/dispatch/index.ts'
import { executionStore } from '../../runs/executions/index.ts'
import { agentKey, runKey } from '../../test/agents-platform.ts'
import { createTestClock, type TestClock } from '../../test/clock.ts'
import { forEachDialect, type TestDb } from '../../test/dialects.ts'
import { accept, agentFact, person, resultOf } from '../../test/run-platform.ts'
import { agent, owner, pass, set, startReminderPlatform } from './test/reminder-platform.ts'

const party = { caller: owner, agent }
const refused = (code: Parameters<typeof isFault>[1]) => (error: unknown) => isFault(error, code)

forEachDialect((_, openDb) => {
  async function open(db: TestDb, clock: TestClock, agents?: Parameters<typeof startReminderPlatform>[1]) {
    const platform = await startReminderPlatform({ db, clock }, agents)
    const again = async () => open({ ...db, ...(await db.openAgain()) }, clock, agents)
    return { ...platform, db, clock, again }
  }
  const start = async (agents?: Parameters<typeof open>[2]) => open(await openDb(), createTestClock(), agents)
  type On = Awaited<ReturnType<typeof start>>

  const find = async (on: On, id: string) => {
    const all = await on.reminders.list(party, { status: 'all', limit: 500 })
    return all.find((reminder) => reminder.id === id) ?? assert.fail()
  }
  /** The agent claims its next run. */
  const take = async (on: On, agentId: string) => {
    const link = { agentId, agentName: agentId, keyId: 'k' }
    const [claimed] = (await on.dispatch.handlers.claim(link, { t: 'claim', free: 1 })).runs
    if (!claimed) throw new Error('No run was handed out.')
    const end = () => on.dispatch.handlers.result(link, resultOf(claimed))
    return { run: await on.row(claimed.execution_id), end }
  }
  const runs = (on: On) =>
    executionStore(on.db).list({ agentId: 'a1', triggeredBy: 'reminder' }, { limit: 99, offset: 0 })

  test('a due reminder fires once, with its event, in twenty concurrent passes of two processes', async () => {
    const on = await start()
    const other = await on.again()
    const { id } = await set(on, {
      message: 'water the plants',
      timeout_seconds: 30,
      allowed_tools: ['Read'],
    })
    await pass(on)
    assert.equal((await runs(on)).length, 0)
    await on.clock.advance(60)
    await Promise.all(Array.from({ length: 20 }, (_each, index) => pass(index % 2 ? on : other)))
    const [run, ...more] = await runs(on)
    assert.deepEqual(more, [])
    assert.deepEqual(
      [run?.message, run?.reminder_id, run?.timeout_seconds, run?.allowed_tools, run?.source_user_id],
      ['water the plants', id, 30, '["Read"]', 'u-owner'],
    )
    const fired = await find(on, id)
    assert.deepEqual([fired.status, fired.execution_id, fired.fire_attempts], ['fired', run?.id, 1])
    await on.events.relaying.pass()
    const events = (await on.events.after(0, 500)).filter(({ type }) => type === 'reminder.fired')
    assert.deepEqual(
      events.map(({ fields }) => fields),
      [{ reminder_id: id, execution_id: run?.id }],
    )
  })

  test('reminders whose runs overlap keep the depth of the run that set them', async () => {
    const on = await start()
    on.agents.set('a1', agentFact({ effective_slots: 20 }))
    const first = await accept(on, { chainDepth: 3 })
    await take(on, 'a1')
    await set(on, { message: 'number 0' }, { caller: runKey(first) })
    // Not the run that sets them.
    await accept(on, { chainDepth: 7 })
    await take(on, 'a1')
    for (let count = 1; count <= 12; count += 1) {
      await on.clock.advance(60)
      await pass(on)
      const { run } = await take(on, 'a1')
      assert.deepEqual([run.triggered_by, run.chain_depth], ['reminder', 3])
      await set(on, { message: `number ${count}` }, { caller: runKey(run) })
    }
  })

  test('a reminder set with the key of the agent is as deep as its deepest running run was', async () => {
    const on = await start()
    for (const chainDepth of [2, 5]) await accept(on, { chainDepth })
    const runs = [await take(on, 'a1'), await take(on, 'a1')]
    await set(on, {}, { caller: agentKey('a1') })
    for (const { end } of runs) await end()
    await on.clock.advance(60)
    await pass(on)
    assert.equal((await take(on, 'a1')).run.chain_depth, 5)
  })

  test('two agents that call each other from reminders stop after eight calls', async () => {
    const on = await start({ a2: { name: 'helper' } })
    let caller = await accept(on)
    let calls = 0
    for (; calls < 20; calls += 1) {
      const by = { id: caller.agent_id, name: `name of ${caller.agent_id}` }
      const called = { id: by.id === 'a1' ? 'a2' : 'a1', name: 'the other' }
      const { end } = await take(on, by.id)
      await set(on, {}, { caller: runKey(caller), agent: by })
      await end()
      await on.clock.advance(60)
      await pass(on)
      const reminded = await take(on, by.id)
      const source = sourceOf(runKey(reminded.run), by.name)
      const next = await accept(on, { agentId: called.id, triggeredBy: 'agent', source }).catch((error) => {
        assert.ok(isFault(error, 'inter_agent_depth_exceeded'))
        return null
      })
      await reminded.end()
      if (!next) break
      caller = next
    }
    assert.equal(calls, 8)
  })

  test('the scheduler gets the reminders of the next minute, soonest first', async () => {
    const on = await start()
    const far = await set(on, { message: 'far', delay_seconds: 300 })
    const near = await set(on, { message: 'near', delay_seconds: 90 })
    const due = async () => (await on.reminders.due(10)).map(({ id }) => id)
    assert.deepEqual(await due(), [])
    await on.clock.advance(40)
    assert.deepEqual(await on.reminders.due(10), [
      { id: near.id, agent_id: 'a1', agent_name: 'scout', fire_at: near.fire_at, fire_attempts: 0 },
    ])
    await on.clock.advance(220)
    assert.deepEqual(await due(), [near.id, far.id])
    await pass(on)
    assert.deepEqual(await due(), [far.id])
  })

  test('a due reminder waits while autonomy is off, and fires when it is enabled', async () => {
    const on = await start()
    const { id } = await set(on)
    await on.change('a1', { autonomy_enabled: 0 })
    assert.equal((await find(on, id)).autonomy_hold, false)
    await on.clock.advance(3600)
    await pass(on)
    const held = await find(on, id)
    assert.deepEqual([held.status, held.autonomy_hold, held.fire_attempts], ['pending', true, 0])
    await on.change('a1', { autonomy_enabled: 1 })
    await pass(on)
    assert.deepEqual([(await find(on, id)).status, (await runs(on)).length], ['fired', 1])
  })

  test('a reminder fails after five attempts with growing pauses', async () => {
    const on = await start()
    const { id } = await set(on)
    on.agents.set('a1', agentFact({ status: 'stopped' }))
    for (const seconds of [60, 60, 120, 240, 480]) {
      await on.clock.advance(seconds - 1)
      await pass(on)
      const before = (await find(on, id)).fire_attempts
      await on.clock.advance(1)
      await pass(on)
      assert.equal((await find(on, id)).fire_attempts, before + 1)
    }
    const failed = await find(on, id)
    assert.deepEqual([failed.status, failed.fire_attempts, failed.execution_id], ['failed', 5, null])
    assert.match(failed.error ?? '', /stopped/)
    await assert.rejects(on.reminders.cancel(party, id), refused('already_finished'))
  })

  test('of a concurrent fire and cancellation one wins, with a run only if it fired', async () => {
    const on = await start()
    for (let round = 0; round < 10; round += 1) {
      const { id } = await set(on, { message: `round ${round}` })
      await on.clock.advance(60)
      const [, cancelled] = await Promise.all([
        pass(on),
        on.reminders.cancel(party, id).then(
          () => true,
          () => false,
        ),
      ])
      const { status, execution_id } = await find(on, id)
      assert.equal(status, cancelled ? 'cancelled' : 'fired')
      assert.equal(execution_id !== null, !cancelled)
    }
  })

  test('cancelling may be repeated; 404 for a reminder of another agent', async () => {
    const on = await start()
    const { id } = await set(on)
    assert.equal((await on.reminders.cancel(party, id)).status, 'cancelled')
    assert.equal((await on.reminders.cancel(party, id)).status, 'cancelled')
    await assert.rejects(
      on.reminders.cancel({ ...party, agent: { id: 'a2', name: 'b' } }, id),
      refused('not_found'),
    )
  })

  test('twenty concurrent equal requests without a key set one reminder while it is pending', async () => {
    const on = await start()
    const all = await Promise.all(Array.from({ length: 20 }, () => set(on)))
    assert.equal(new Set(all.map(({ id }) => id)).size, 1)
    assert.equal(all.filter(({ replayed }) => !replayed).length, 1)
    const id = all[0]?.id ?? assert.fail()
    assert.notEqual((await set(on, { delay_seconds: 61 })).id, id)
    await on.reminders.cancel(party, id)
    assert.notEqual((await set(on)).id, id)
  })

  test('equal requests of two callers are two reminders', async () => {
    const on = await start()
    const [admin, run] = [person({ id: 'u2', username: 'root' }), runKey(await accept(on))]
    const all = [await set(on), await set(on, {}, { caller: admin }), await set(on, {}, { caller: run })]
    assert.equal(new Set(all.map(({ id }) => id)).size, 3)
  })

  test('with a key only the key decides; 409 after that reminder was cancelled or deleted', async () => {
    const on = await start()
    const first = await set(on, {}, { key: 'k1' })
    const again = await set(on, { message: 'another' }, { key: 'k1' })
    assert.deepEqual([again.id, again.replayed], [first.id, true])
    await on.reminders.cancel(party, first.id)
    await assert.rejects(set(on, {}, { key: 'k1' }), refused('created_resource_gone'))
    const second = await set(on, {}, { key: 'k2' })
    assert.notEqual(second.id, first.id)
    await on.db.atomically((tx) => on.reminders.agentDeleted(tx, agent.id))
    await assert.rejects(set(on, {}, { key: 'k2' }), refused('created_resource_gone'))
  })

  test('keys are separate per person', async () => {
    const on = await start()
    const first = await set(on, {}, { key: 'k1' })
    const other = await set(on, {}, { key: 'k1', caller: person({ id: 'u2', username: 'bob' }) })
    assert.deepEqual([other.id === first.id, other.replayed], [false, false])
  })

  test('429 for 25 pending reminders, 30 per minute, 100 per day', async () => {
    const on = await start()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_each, index) =>
        set(on, { message: `number ${index}`, delay_seconds: 86_400 }),
      ),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 25)
    await assert.rejects(set(on, { message: 'one more' }), refused('rate_limited'))
    for (let count = 25; count < 100; count += 1) {
      const [soonest] = await on.reminders.list(party, { status: 'pending', limit: 1 })
      await on.reminders.cancel(party, soonest?.id ?? assert.fail())
      await on.clock.advance(60)
      await set(on, { message: `number ${count}`, delay_seconds: 2_000_000 })
    }
    await on.reminders.cancel(
      party,
      (await on.reminders.list(party, { status: 'pending', limit: 1 }))[0]?.id ?? '',
    )
    await on.clock.advance(60)
    await assert.rejects(set(on, { message: 'one more' }), (error) => {
      assert.ok(isFault(error, 'daily_cap_reached'))
      assert.equal(error.fields.retry_after_seconds, 86_400 - 76 * 60)
      return true
    })
  })

  test('reminders are listed soonest first, filtered by status', async () => {
    const on = await start()
    const late = await set(on, { message: 'late', delay_seconds: 900 })
    const soon = await set(on, { message: 'soon', delay_seconds: 90 })
    const cancelled = await set(on, { message: 'cancelled' })
    await on.reminders.cancel(party, cancelled.id)
    const ids = async (status: string) =>
      (await on.reminders.list(party, { status, limit: 9 })).map(({ id }) => id)
    assert.deepEqual(await ids('pending'), [soon.id, late.id])
    assert.deepEqual(await ids('all'), [cancelled.id, soon.id, late.id])
    assert.deepEqual(await ids('cancelled'), [cancelled.id])
    await assert.rejects(ids('sleeping'), refused('unknown_filter'))
  })

  test('deleting an agent deletes its reminders', async () => {
    const on = await start()
    const { id } = await set(on)
    await on.db.atomically((tx) => on.reminders.agentDeleted(tx, 'a1'))
    await assert.rejects(on.reminders.cancel(party, id), refused('not_found'))
  })
})
