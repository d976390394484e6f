import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentStore } from '../../agents/records/index.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { person } from '../../test/run-platform.ts'
import type { CallTables } from './tables.ts'
import { startCallWorld, untilEnded } from './test/call-world.ts'

forEachDialect((_, open) => {
  test('the account is validated with the provider, shown without its token, disabled and removed', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    const unconfigured = (await world.ask('GET', '', { who: 'shared' })).json
    assert.deepEqual(
      [unconfigured.configured, unconfigured.enabled, unconfigured.calls_today],
      [false, false, 0],
    )
    assert.equal((await world.ask('PUT', '/enabled', { body: { enabled: true } })).json.error, 'not_found')
    const fieldOf = async (overrides: object) => (await world.bind(overrides)).json.detail[0].loc.at(-1)
    assert.equal(await fieldOf({ auth_token: 'a-wrong-token-of-enough-length' }), 'auth_token')
    assert.equal(await fieldOf({ from_number: '+15559999999' }), 'from_number')
    assert.equal(await fieldOf({ account_sid: 'AC12' }), 'account_sid')
    assert.equal((await world.ask('GET', '')).json.configured, false)

    const bound = await world.bind({ display_name: 'Robin' })
    assert.equal(bound.status, 200)
    assert.deepEqual(bound.json, {
      agent_name: 'scout',
      configured: true,
      account_sid: world.provider.account.sid,
      from_number: world.provider.account.number,
      daily_call_cap: 20,
      display_name: 'Robin',
      enabled: true,
      calls_today: 0,
    })
    const off = await world.ask('PUT', '/enabled', { body: { enabled: false } })
    assert.equal(off.json.enabled, false)
    assert.equal((await world.call()).json.error, 'conflict')
    assert.deepEqual((await world.ask('DELETE', '')).json, { deleted: true, agent_name: 'scout' })
    assert.equal((await world.ask('DELETE', '')).json.deleted, false)
    assert.equal((await world.call()).json.error, 'not_found')
  })

  test('only the owner in person writes, the agent calls, strangers get 404; every route is 404 when the feature is off', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    const body = { enabled: true }
    const errors = async (who: 'owner' | 'shared' | 'scout' | 'stranger') => [
      (await world.ask('GET', '', { who })).json.error,
      (await world.ask('PUT', '/enabled', { who, body })).json.error,
      (await world.ask('POST', '/call', { who, body: { to_number: '+15550123' } })).json.error,
    ]
    assert.deepEqual(await errors('owner'), [undefined, 'not_found', 'not_found'])
    assert.deepEqual(await errors('shared'), [undefined, 'owner_required', 'not_found'])
    assert.deepEqual(await errors('scout'), [undefined, 'person_required', 'not_found'])
    assert.deepEqual(await errors('stranger'), Array(3).fill('agent_not_found'))
    world.isOn = false
    assert.deepEqual(await errors('owner'), Array(3).fill('feature_disabled'))
    assert.equal((await world.ask('DELETE', '')).json.error, 'feature_disabled')
  })

  test('a call rings, has a running execution, and ends with the provider’s status', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    await world.bind()
    for (const [reported, error] of [
      ['busy', 'The number was busy.'],
      ['no-answer', 'Nobody answered.'],
      ['failed', 'The provider could not connect the call.'],
    ] as const) {
      const { status, json } = await world.call({ context: 'The order of Tuesday.' })
      assert.equal(status, 200)
      assert.deepEqual([json.status, json.to_number], ['ringing', '+15550123'])
      const call = await world.provider.nextCall()
      assert.deepEqual([call.to, call.from], ['+15550123', world.provider.account.number])
      const running = await world.platform.row(json.execution_id)
      assert.deepEqual([running.status, running.triggered_by], ['running', 'voip'])
      assert.match(running.message, /\+15550123\s+The order of Tuesday/)
      assert.equal((await call.tell('ringing')).status, 204)
      assert.equal((await call.tell(reported)).status, 204)
      const row = await untilEnded(world, json.execution_id)
      assert.deepEqual([row.status, row.error, row.error_code], ['failed', error, 'recipient_unreachable'])
      // A repeated status changes nothing.
      assert.equal((await call.tell('completed')).status, 204)
    }
    assert.equal((await world.ask('GET', '')).json.calls_today, 3)
  })

  test('401 invalid_signature for an unsigned status, 404 for an unknown call', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    await world.bind()
    const { json } = await world.call()
    const call = await world.provider.nextCall()
    assert.equal((await call.tell('busy', { token: 'somebody-else' })).status, 401)
    assert.equal((await fetch(call.statusUrl, { method: 'POST', body: 'CallStatus=busy' })).status, 401)
    assert.equal((await fetch(`${call.statusUrl}x`, { method: 'POST' })).status, 404)
    assert.equal((await world.platform.row(json.execution_id)).status, 'running')
  })

  test('a call that the provider refuses or that cannot be placed fails and frees its key', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    await world.bind()
    world.provider.refuseNext('This number is not allowed.')
    const refused = await world.call({ dedup_label: 'l' }, { 'idempotency-key': 'k' })
    assert.equal(refused.status, 422)
    assert.match(refused.json.detail[0].msg, /not allowed/)
    const [row] = (
      await world.platform.executions.list(
        { caller: person({ role: 'admin' }), agentId: 'a1', relation: 'admin' },
        { limit: 9, offset: 0 },
      )
    ).rows
    assert.equal(row?.status, 'failed')
    assert.match(row?.error_summary ?? '', /refused the call: This number is not allowed/)
    assert.equal((await world.ask('GET', '')).json.calls_today, 0)
    // Key and label are free again.
    const again = await world.call({ dedup_label: 'l' }, { 'idempotency-key': 'k' })
    assert.equal(again.status, 200)
    await world.provider.close()
    const away = await world.call()
    assert.deepEqual([away.status, away.json.error], [502, 'upstream_error'])
    const last = await untilEnded(world, away.json.execution_id)
    assert.deepEqual([last.status, last.error_code], ['failed', 'network'])
  })

  test('one Idempotency-Key rings once even for twenty concurrent requests; a failed call frees it', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    await world.bind()
    const key = { 'idempotency-key': 'once' }
    const replies = await Promise.all(Array.from({ length: 20 }, () => world.call({}, key)))
    assert.equal(world.provider.calls.length, 1)
    const [first] = replies.filter(({ status }) => status === 200)
    assert.ok(first)
    for (const { status, json } of replies) {
      assert.ok(status === 200 || (status === 409 && json.error === 'request_in_progress'), String(status))
      assert.equal(json.execution_id, first.json.execution_id)
    }
    const replay = await world.call({}, key)
    assert.deepEqual([replay.json, replay.headers.get('x-idempotent-replay')], [first.json, 'true'])
    await (await world.provider.nextCall()).tell('busy')
    assert.notEqual((await world.call({}, key)).json.call_id, first.json.call_id)
  })

  test('409 already_exists for a label used in the last 24 hours; 429 daily_cap_reached resets at midnight UTC', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    await world.bind({ daily_call_cap: 2 })
    const labelled = await Promise.all([1, 2, 3].map(() => world.call({ dedup_label: 'order-7' })))
    const [placed] = labelled.filter(({ status }) => status === 200)
    const duplicates = labelled.filter(({ status }) => status === 409)
    assert.ok(placed)
    assert.deepEqual(
      duplicates.map(({ json }) => [json.error, json.call_id, json.execution_id]),
      Array(2).fill(['already_exists', placed.json.call_id, placed.json.execution_id]),
    )
    const more = await Promise.all([world.call(), world.call()])
    const capped = more.find(({ status }) => status !== 200)
    assert.deepEqual([capped?.status, capped?.json.error], [429, 'daily_cap_reached'])
    assert.equal(capped?.json.retry_after_seconds, 16 * 3600)
    // Midnight UTC resets the cap; a label is held for 24 hours.
    await world.clock.advance(16 * 3600)
    assert.equal((await world.call({ dedup_label: 'order-7' })).json.error, 'already_exists')
    assert.equal((await world.call()).status, 200)
    await world.clock.advance(8 * 3600 + 1)
    assert.equal((await world.call({ dedup_label: 'order-7' })).status, 200)
  })

  test('429 rate_limited for the sixth call within a minute, even for twenty concurrent requests', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    await world.bind()
    const replies = await Promise.all(Array.from({ length: 20 }, () => world.call()))
    assert.equal(replies.filter(({ status }) => status === 200).length, 5)
    const refused = replies.filter(({ status }) => status !== 200)
    assert.deepEqual([...new Set(refused.map(({ json }) => json.error))], ['rate_limited'])
    assert.deepEqual(
      [refused[0]?.json.retry_after_seconds, refused[0]?.headers.get('retry-after')],
      [60, '60'],
    )
    await world.clock.advance(60)
    assert.equal((await world.call()).status, 200)
  })

  test('a call without status updates ends at its deadline and is hung up', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    await world.bind()
    const silent = await world.call()
    const [first] = [await world.provider.nextCall()]
    await world.clock.advance(60)
    await world.runLoops()
    assert.equal((await world.platform.row(silent.json.execution_id)).status, 'running')
    await world.clock.advance(31)
    await world.runLoops()
    const row = await untilEnded(world, silent.json.execution_id)
    assert.deepEqual([row.status, row.error], ['failed', 'Nobody answered.'])
    await first.hungUp

    const unanswered = await world.call()
    const second = await world.provider.nextCall()
    await second.tell('in-progress')
    await world.clock.advance(31)
    await world.runLoops()
    const silentRow = await untilEnded(world, unanswered.json.execution_id)
    assert.match(silentRow.error ?? '', /its sound never came/)
    await second.hungUp
  })

  test('stopping the execution, the agent or the account hangs up', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    await world.bind()
    const stopped = await world.call()
    const [first, reader] = [
      await world.provider.nextCall(),
      { caller: person({ role: 'admin' }), agentId: 'a1', relation: 'admin' as const },
    ]
    const { status } = await world.platform.executions.terminate(reader, stopped.json.execution_id)
    assert.equal(status, 'terminated')
    await first.hungUp

    const second = await world.call()
    const ringing = await world.provider.nextCall()
    await db.atomically((tx) => world.calls.agentStopped(tx, 'a1'))
    await ringing.hungUp
    const row = await untilEnded(world, second.json.execution_id)
    assert.deepEqual([row.status, row.error_code], ['cancelled', 'agent_stopped'])

    const third = await world.call()
    const last = await world.provider.nextCall()
    await world.ask('DELETE', '')
    await last.hungUp
    assert.equal((await untilEnded(world, third.json.execution_id)).status, 'cancelled')
  })

  test('deleting an agent ends its calls and deletes account and calls', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    await world.bind()
    const { json } = await world.call()
    const call = await world.provider.nextCall()
    await db.atomically(async (tx) => {
      await world.calls.agentDeleted(tx, 'a1')
      await agentStore(tx).remove('a1')
    })
    await call.hungUp
    const row = await untilEnded(world, json.execution_id)
    assert.deepEqual([row.status, row.error_code], ['cancelled', 'agent_deleted'])
    const tables = db.withTables<CallTables>()
    for (const table of ['call_bindings', 'calls'] as const) {
      assert.deepEqual(await tables.selectFrom(table).select('agent_id').execute(), [])
    }
    assert.equal((await call.tell('completed')).status, 404)
  })

  test('503 agent_not_running; 422 for invalid numbers', async () => {
    await using db = await open()
    await using world = await startCallWorld(db)
    await world.bind()
    for (const to_number of ['5550123', '+0123456', '+1', 'anna']) {
      assert.equal((await world.call({ to_number })).json.detail[0].loc.at(-1), 'to_number')
    }
    const agent = world.platform.agents.get('a1')
    assert.ok(agent)
    world.platform.agents.set('a1', { ...agent, status: 'stopped' })
    assert.equal((await world.call()).json.error, 'agent_not_running')
  })
})
