import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CreateEventSubscription, EmitEvent } from '@roost/contracts/triggers/events'
import { rateRules } from '../../foundation/rate-limits/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { isFault } from '../../kit/fault.ts'
import { silentLog } from '../../ports/log.ts'
import { executionStore } from '../../runs/executions/index.ts'
import { agentKey, runKey, startAgentsPlatform } from '../../test/agents-platform.ts'
import { createTestClock, type TestClock } from '../../test/clock.ts'
import { forEachDialect, type TestDb } from '../../test/dialects.ts'
import { accept, agentFact, person, resultOf } from '../../test/run-platform.ts'
import { createSubscriptions, type Subscriptions } from './index.ts'

const never = new AbortController().signal
const owner = person({ id: 'u-owner', username: 'olga', email: 'olga@example.org' })
const stranger = person({ id: 'u-stranger', username: 'sam', email: 'sam@example.org' })
const emitted = (event_type: string, payload?: Record<string, unknown>) =>
  EmitEvent.parse({ event_type, payload })
const refused =
  (...codes: Parameters<typeof isFault>[1][]) =>
  (error: unknown) =>
    codes.some((code) => isFault(error, code))

forEachDialect((_, openDb) => {
  async function open(db: TestDb, clock: TestClock, queueDepth = 50) {
    const platform = await startAgentsPlatform(
      { db, clock, queueDepth },
      { a2: { name: 'helper' }, a3: { name: 'writer' }, x1: { name: 'foreign', owner_id: 'u-stranger' } },
    )
    platform.edges.set('a2', new Set(['a1']))
    const failing = new Set<string>()
    const subscriptions = createSubscriptions({
      ...platform,
      log: silentLog,
      secrets: async (id) => (failing.has(id) ? Promise.reject(new Error('lost')) : [`secret-of-${id}`]),
    })
    return {
      ...platform,
      /** Agents whose secrets cannot be read, so that their deliveries stay pending. */
      failing,
      db,
      clock,
      subscriptions,
      again: async () => open({ ...db, ...(await db.openAgain()) }, clock),
    }
  }
  const start = async (queueDepth?: number) => open(await openDb(), createTestClock(), queueDepth)
  type On = Awaited<ReturnType<typeof start>>
  const ends = {
    a1: { id: 'a1', name: 'scout' },
    a2: { id: 'a2', name: 'helper' },
    a3: { id: 'a3', name: 'writer' },
  }
  const subscribe = (
    on: { subscriptions: Subscriptions },
    subscriber: { id: string; name: string },
    over: Record<string, unknown>,
    caller: SignedIn = owner,
  ) =>
    on.subscriptions.create(
      caller,
      subscriber,
      CreateEventSubscription.parse({ event_type: 'news', target_message: 'read {{payload.text}}', ...over }),
    )
  const runsOf = async (on: On, agentId: string) =>
    executionStore(on.db).list({ agentId, triggeredBy: 'event' }, { limit: 50, offset: 0 })

  test('an event of an agent wakes each listener with permission to call it once', async () => {
    const on = await start()
    await subscribe(on, ends.a2, { source_agent: 'scout' })
    await subscribe(on, ends.a2, { source_agent: 'scout', event_type: 'other' })
    const anybody = await subscribe(on, ends.a3, {})
    const emit = () => on.subscriptions.emit(agentKey('a1'), emitted('news', { text: 'hi' }))
    const first = await emit()
    assert.deepEqual([first.source_agent, first.subscriptions_triggered], ['scout', 1])
    assert.deepEqual(
      first.executions.map(({ agent_name }) => agent_name),
      ['helper'],
    )
    on.edges.set('a3', new Set(['a1']))
    const second = await emit()
    assert.deepEqual(
      second.executions.map(({ agent_name }) => agent_name),
      ['helper', 'writer'],
    )
    const [run] = await runsOf(on, 'a3')
    assert.equal(run?.id, second.executions[1]?.execution_id)
    assert.match(run?.message ?? '', /^read ⟦hi⟧\n/)
    assert.deepEqual([run?.source_agent_name, run?.chain_depth, run?.kind], ['scout', 1, 'task'])
    assert.ok((await on.subscriptions.get(owner, anybody.id)).last_triggered_at)
    assert.equal((await runsOf(on, 'a2')).length, 2)
  })

  test('an event of a person wakes listeners with any source that the person can access', async () => {
    const on = await start()
    await subscribe(on, ends.a2, { source_agent: 'scout' })
    await subscribe(on, { id: 'x1', name: 'foreign' }, {}, stranger)
    const event = await on.subscriptions.emit(owner, emitted('news'))
    assert.deepEqual(
      event.executions.map(({ agent_name }) => agent_name),
      ['helper'],
    )
    assert.equal(event.source_agent, 'olga')
    const [run] = await runsOf(on, 'a2')
    assert.deepEqual([run?.source_user_id, run?.source_agent_name, run?.chain_depth], ['u-owner', null, 1])
    on.edges.delete('a2')
    assert.equal((await on.subscriptions.emit(owner, emitted('news'))).subscriptions_triggered, 0)
    assert.deepEqual(await on.subscriptions.events(stranger, { limit: 9 }), [])
    assert.equal((await on.subscriptions.events(owner, { limit: 9, source_agent: 'olga' })).length, 2)
  })

  test('a person with access may emit as an agent, another agent may not', async () => {
    const on = await start()
    await subscribe(on, ends.a2, { source_agent: 'scout' })
    const event = await on.subscriptions.emitAs(owner, ends.a1, emitted('news'))
    assert.deepEqual([event.source_agent, event.subscriptions_triggered], ['scout', 1])
    await assert.rejects(
      on.subscriptions.emitAs(agentKey('a2'), ends.a1, emitted('news')),
      refused('agent_identity_required'),
    )
    await assert.rejects(
      on.subscriptions.emit(owner, emitted('agent.task.failed')),
      refused('reserved_event_type'),
    )
    assert.equal((await on.subscriptions.eventsOf(owner, 'a1', { limit: 9 })).length, 1)
  })

  test('403 agent_not_permitted for a missing, inaccessible or forbidden source alike', async () => {
    const on = await start()
    for (const source_agent of ['nobody', 'foreign', 'writer']) {
      await assert.rejects(
        subscribe(on, ends.a2, { source_agent }),
        refused('agent_not_permitted'),
        source_agent,
      )
    }
    await assert.rejects(
      subscribe(on, ends.a2, { source_agent: 'writer' }, agentKey('a2')),
      refused('agent_not_permitted'),
    )
    const made = await subscribe(on, ends.a2, { source_agent: 'scout' }, agentKey('a2'))
    assert.deepEqual(
      [made.created_by, made.subscriber_agent, made.source_agent],
      ['helper', 'helper', 'scout'],
    )
    await assert.rejects(
      subscribe(on, ends.a1, { source_agent: 'scout', event_type: 'agent.task.failed' }),
      refused('reserved_event_type'),
    )
  })

  test('409 already_exists for equal subscriptions, also by twenty concurrent calls or a change', async () => {
    const on = await start()
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => subscribe(on, ends.a2, {})))
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.equal(refusals.length, 19)
    assert.ok(refusals.every(({ reason }) => isFault(reason, 'already_exists')))
    const other = await subscribe(on, ends.a2, { event_type: 'other' })
    const change = (patch: object) => on.subscriptions.update(owner, other.id, patch)
    await assert.rejects(change({ event_type: 'news' }), refused('already_exists'))
    assert.equal((await change({ enabled: false, target_message: 'new' })).target_message, 'new')
    assert.equal((await on.subscriptions.emit(owner, emitted('other'))).subscriptions_triggered, 0)
  })

  test('none of twenty concurrent changes enables a disabled subscription again', async () => {
    const on = await start()
    const { id } = await subscribe(on, ends.a2, {})
    const changes = Array.from({ length: 20 }, (_, index) =>
      on.subscriptions.update(owner, id, index === 7 ? { enabled: false } : { target_message: `m${index}` }),
    )
    await Promise.all(changes)
    assert.equal((await on.subscriptions.get(owner, id)).enabled, false)
  })

  test('a pending delivery keeps no other one, and ends with its subscription or permission', async () => {
    const on = await start()
    for (const end of ['a2', 'a3'] as const) on.edges.set(end, new Set(['a1']))
    const { id } = await subscribe(on, ends.a2, { source_agent: 'scout' })
    await subscribe(on, ends.a3, { source_agent: 'scout' })
    const ended = async (end: () => unknown) => {
      on.failing.add('a2')
      const event = await on.subscriptions.emit(agentKey('a1'), emitted('news'))
      assert.equal(event.executions[0]?.execution_id, undefined)
      assert.ok(event.executions[1]?.execution_id)
      await end()
      on.failing.clear()
      await on.subscriptions.loops[0]?.run(never)
      const [after] = await on.subscriptions.events(owner, { limit: 1 })
      return after?.executions[0]?.dropped
    }
    const { update } = on.subscriptions
    assert.equal(await ended(() => update(owner, id, { enabled: false })), 'agent_not_permitted')
    await update(owner, id, { enabled: true })
    assert.equal(await ended(() => on.edges.delete('a2')), 'agent_not_permitted')
    assert.equal((await runsOf(on, 'a2')).length, 0)
  })

  test('callers with access read a subscription, owner and agent change it, 404 for others', async () => {
    const on = await start()
    const { id } = await subscribe(on, ends.a2, { source_agent: 'scout' })
    on.edges.set('a3', new Set(['a2']))
    assert.equal((await on.subscriptions.get(agentKey('a3'), id)).id, id)
    await assert.rejects(on.subscriptions.remove(agentKey('a3'), id), refused('owner_required'))
    await assert.rejects(on.subscriptions.get(stranger, id), refused('not_found'))
    await assert.rejects(on.subscriptions.update(stranger, id, { enabled: false }), refused('not_found'))
    const listed = async (caller: SignedIn, direction: 'subscriber' | 'source' | 'both') =>
      (await on.subscriptions.list(caller, 'a1', { direction, limit: 9 })).length
    assert.deepEqual([await listed(owner, 'subscriber'), await listed(owner, 'source')], [0, 1])
    assert.equal(await listed(stranger, 'both'), 0)
    // The user of this run is the owner, but the agent may not call the subscriber.
    const key = agentKey('a1')
    const limited: SignedIn = { ...key, run: { ref: 'r', execution_id: 'e', reach: 'shared' } }
    assert.deepEqual([await listed(key, 'source'), await listed(limited, 'source')], [1, 0])
    // A run that may call the subscriber, but not its source, does not learn the source.
    const caller: SignedIn = { ...agentKey('a3'), run: { ref: 'r', execution_id: 'e', reach: 'shared' } }
    const { source_agent, source_hidden } = await on.subscriptions.get(caller, id)
    assert.deepEqual([source_agent, source_hidden], [null, true])
    await on.subscriptions.remove(agentKey('a2'), id)
    await assert.rejects(on.subscriptions.get(owner, id), refused('not_found'))
  })

  test('a stopped subscriber and a full queue drop the delivery, with the reason', async () => {
    const on = await start(1)
    on.edges.set('a3', new Set(['a1']))
    await subscribe(on, ends.a2, { source_agent: 'scout' })
    await subscribe(on, ends.a3, { source_agent: 'scout' })
    on.agents.set('a2', agentFact({ id: 'a2', name: 'helper', status: 'stopped' }))
    await accept(on, { agentId: 'a3' })
    const event = await on.subscriptions.emit(agentKey('a1'), emitted('news'))
    assert.deepEqual(event.executions, [
      { agent_name: 'helper', dropped: 'agent_not_running' },
      { agent_name: 'writer', dropped: 'queue_full' },
    ])
    assert.equal(event.subscriptions_triggered, 2)
    assert.deepEqual(await on.subscriptions.events(owner, { limit: 9 }), [event])
  })

  test('secrets of both agents, and text that looks like one, are masked', async () => {
    const on = await start()
    await subscribe(on, ends.a2, { source_agent: 'scout' })
    const text = 'secret-of-a1 secret-of-a2 svc_mcp_0123456789abcdefghijABCDEFGHIJ0123456789abc'
    await on.subscriptions.emit(agentKey('a1'), emitted('news', { text }))
    const [run] = await runsOf(on, 'a2')
    assert.match(run?.message ?? '', /^read ⟦\[secret\] \[secret\] \[secret\]⟧/)
  })

  test('the end of a task wakes listeners with its result, and stores nothing without listeners', async () => {
    const on = await start()
    const end = async (over: object = {}) => {
      const { id } = await accept(on)
      const link = { agentId: 'a1', agentName: 'scout', keyId: 'k1' }
      const { runs } = await on.dispatch.handlers.claim(link, { t: 'claim', free: 1 })
      const run = runs.find(({ execution_id }) => execution_id === id) ?? assert.fail()
      await on.dispatch.handlers.result(link, resultOf(run, over))
      await on.subscriptions.settled()
      return id
    }
    const events = () => on.subscriptions.eventsOf(owner, 'a1', { limit: 9 })
    await subscribe(on, ends.a1, { event_type: 'agent.task.completed' })
    await subscribe(on, ends.a3, { source_agent: null, event_type: 'agent.task.completed' })
    await end()
    assert.deepEqual(await events(), [], 'listeners: itself, and one without permission')
    await subscribe(on, ends.a2, {
      event_type: 'agent.task.completed',
      target_message: '{{payload.summary_or_error}}',
    })
    await end({ status: 'failed', response: null, error: 'no', error_code: 'oom' })
    assert.deepEqual(await events(), [], 'another type')
    const id = await end({ response: 'all is well', metadata: { cost_usd: 0.5 } })
    const [event] = await events()
    assert.deepEqual(event?.payload, {
      execution_id: id,
      status: 'success',
      triggered_by: 'manual',
      summary_or_error: 'all is well',
      duration_ms: 0,
      cost: 0.5,
      cost_estimated: false,
    })
    assert.deepEqual(
      event?.executions.map(({ agent_name }) => agent_name),
      ['helper'],
    )
    const [run] = await runsOf(on, 'a2')
    assert.match(run?.message ?? '', /^⟦all is well⟧/)
    assert.equal((await runsOf(on, 'a1')).length, 0)
  })

  test('two agents that listen to each other stop after eight hops, with a reason in the last event', async () => {
    const on = await start()
    on.edges.set('a1', new Set(['a2']))
    await subscribe(on, ends.a1, { source_agent: 'helper', event_type: 'agent.task.completed' })
    await subscribe(on, ends.a2, { source_agent: 'scout', event_type: 'agent.task.completed' })
    await accept(on)
    let hops = 0
    for (; hops < 20; hops += 1) {
      const agentId = hops % 2 ? 'a2' : 'a1'
      const link = { agentId, agentName: agentId, keyId: 'k' }
      const [run] = (await on.dispatch.handlers.claim(link, { t: 'claim', free: 1 })).runs
      if (!run) break
      await on.dispatch.handlers.result(link, resultOf(run))
      await on.subscriptions.settled()
      await on.clock.advance(1)
    }
    assert.equal(hops, 9)
    const [last] = await on.subscriptions.events(owner, { limit: 1 })
    assert.deepEqual(last?.executions, [{ agent_name: 'helper', dropped: 'inter_agent_depth_exceeded' }])
  })

  test('an event is one call deeper than the run that emits it, whatever else the agents run', async () => {
    const on = await start()
    await subscribe(on, ends.a2, { source_agent: 'scout' })
    const emitting = await accept(on, { chainDepth: 2 })
    await accept(on, { chainDepth: 7 })
    for (const agentId of ['a1', 'a2']) {
      const link = { agentId, agentName: agentId, keyId: 'k' }
      await on.dispatch.handlers.claim(link, { t: 'claim', free: 3 })
    }
    await on.subscriptions.emit(runKey(emitting), emitted('news'))
    assert.equal((await runsOf(on, 'a2'))[0]?.chain_depth, 3)
    await on.clock.advance(1)
    await on.subscriptions.emit(agentKey('a1'), emitted('news'))
    assert.equal((await runsOf(on, 'a2'))[0]?.chain_depth, 8)
  })

  test('events of a killed process are delivered once by twenty concurrent passes in two processes', async () => {
    const on = await start()
    const other = await on.again()
    await subscribe(on, ends.a2, { source_agent: 'scout', event_type: 'agent.task.completed' })
    const { id } = await accept(on)
    const link = { agentId: 'a1', agentName: 'scout', keyId: 'k1' }
    const { runs } = await on.dispatch.handlers.claim(link, { t: 'claim', free: 1 })
    await on.dispatch.handlers.result(
      link,
      resultOf(runs.find((run) => run.execution_id === id) ?? assert.fail()),
    )
    const pass = ({ subscriptions }: On) => subscriptions.loops[0]?.run(never)
    await Promise.all([
      on.subscriptions.settled(),
      ...Array.from({ length: 20 }, (_each, index) => pass(index % 2 ? on : other)),
    ])
    assert.equal((await runsOf(on, 'a2')).length, 1)
    await on.events.relaying.pass()
    const emitted = (await on.events.after(0, 500)).filter(({ type }) => type === 'agent.event')
    assert.equal(emitted.length, 1)
    assert.deepEqual(emitted[0]?.agent_names, ['scout'])
  })

  test('429 rate_limited above 600 events per minute and source', async () => {
    const on = await start()
    for (let count = 0; count < 600; count += 1) await on.limits.use(rateRules.event, 'agent:a1')
    await assert.rejects(on.subscriptions.emit(agentKey('a1'), emitted('news')), refused('rate_limited'))
    await on.subscriptions.emit(agentKey('a2'), emitted('news'))
  })

  test('deleting an agent deletes subscriptions by it and to it', async () => {
    const on = await start()
    await subscribe(on, ends.a2, { source_agent: 'scout' })
    await on.db.atomically((tx) => on.subscriptions.agentDeleted(tx, 'a1'))
    assert.deepEqual(await on.subscriptions.list(owner, 'a2', { direction: 'both', limit: 9 }), [])
  })
})
