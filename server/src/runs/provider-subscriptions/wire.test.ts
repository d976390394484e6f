import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startModelServer } from '@roost/test-support/model/index'
import { forEachDialect } from '../../test/dialects.ts'
import { startWorld } from './test/world.ts'

const [first, second, plan] = [
  'sk-ant-api03-first-token',
  'sk-ant-api03-second-token',
  'sk-ant-oat01-plan-token',
]

forEachDialect((_, open) => {
  test("the broker sends a plan's token as a bearer with its beta header from the next request on", async () => {
    await using world = await startWorld({ db: await open() })
    const ask = await world.run()
    await ask()
    await world.add('plan', plan)
    await world.call('PUT', '/agents/scout', { subscription_name: 'plan' })
    await ask()
    await world.add('plan', first)
    await ask()
    await world.call('DELETE', '/agents/scout')
    await ask()
    assert.deepEqual(
      world.requests.map(({ key, beta }) => [key, beta]),
      [
        ['provider-key-1', undefined],
        [plan, 'oauth-2025-04-20'],
        [first, undefined],
        ['provider-key-1', undefined],
      ],
    )
  })

  test('usage covers the last five hours and the last seven days', async () => {
    await using world = await startWorld({ db: await open() })
    await world.add('team', first)
    await world.call('PUT', '/agents/scout', { subscription_name: 'team' })
    const ask = await world.run()
    const used = async () => (await world.call('GET', '/team/usage')).json
    await Promise.all([ask(), ask()])
    const two = {
      input_tokens: 2000,
      output_tokens: 200,
      cost_usd: 0.009,
      cost_estimated: false,
      message_count: 2,
    }
    const zero = { input_tokens: 0, output_tokens: 0, cost_usd: 0, cost_estimated: false, message_count: 0 }
    const { subscription_id, ...now } = await used()
    assert.deepEqual(now, {
      ...{ window_5h: two, window_7d: two, agents: ['scout'] },
      ...{ failure_events_24h: 0, rate_limited_now: false },
    })
    assert.equal((await world.call('GET', `/${subscription_id}/usage`)).status, 200)
    world.clock.set('2026-01-05T13:30:00.000Z')
    const later = await used()
    assert.deepEqual([later.window_5h, later.window_7d], [zero, two])
    world.clock.set('2026-01-14T08:00:00.000Z')
    assert.deepEqual((await used()).window_7d, zero)
    for (const loop of world.platform.providerSubscriptions.loops)
      await loop.run(new AbortController().signal)
    world.clock.set('2026-01-05T08:00:00.000Z')
    assert.deepEqual((await used()).window_7d, zero, 'usage older than every window is deleted')
  })

  test('20 concurrent limited requests cause one switch and one alert, and all may be retried', async () => {
    await using world = await startWorld({ db: await open() })
    await world.add('a', first)
    await world.add('b', second)
    await world.call('PUT', '/agents/scout', { subscription_name: 'a' })
    world.statuses.set(first, 429)
    const ask = await world.run()
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask()))
    const limited = replies.filter(({ status }) => status === 429)
    assert.ok(limited.length > 0)
    for (const { headers } of limited)
      assert.deepEqual([headers['retry-after'], headers['x-should-retry']], ['1', 'true'])
    assert.equal(world.alerts.length, 1)
    const [alert] = world.alerts
    assert.deepEqual([alert?.agentId, alert?.kind], ['a1', 'subscription_switched'])
    assert.deepEqual(alert?.context, { from: 'a', to: 'b', provider: 'anthropic' })
    const next = await ask()
    assert.equal(next.status, 200, next.text)
    assert.equal(world.requests.at(-1)?.key, second)
    const usage = (await world.call('GET', '/a/usage')).json
    assert.deepEqual([usage.rate_limited_now, usage.failure_events_24h], [true, limited.length])
    await world.clock.advance(601)
    assert.equal((await world.call('GET', '/a/usage')).json.rate_limited_now, false)
  })

  test('20 agents on one subscription move separately; an idle one stays', async () => {
    const names = Array.from({ length: 20 }, (_, number) => `mover-${number}`)
    const agents = Object.fromEntries(names.map((name) => [name, { name }]))
    await using world = await startWorld({ db: await open(), agents })
    await world.add('a', first)
    await world.add('b', second)
    for (const name of names) await world.platform.providerSubscriptions.assign({ id: name, name }, 'a')
    world.statuses.set(first, 429)
    const asks = []
    for (const name of names.slice(0, 19)) asks.push(await world.run(name, name))
    await Promise.all(asks.map((ask) => ask()))
    assert.equal(new Set(world.alerts.map(({ agentId }) => agentId)).size, 19)
    assert.equal(world.alerts.length, 19)
    assert.deepEqual((await world.call('GET', '/a/usage')).json.agents, ['mover-19'])
  })

  test('an agent also leaves a refused token and does not return to it', async () => {
    await using world = await startWorld({ db: await open() })
    await world.add('a', first)
    await world.add('b', second)
    await world.call('PUT', '/agents/scout', { subscription_name: 'a' })
    world.statuses.set(first, 401)
    const ask = await world.run()
    const refused = await ask()
    assert.deepEqual([refused.status, refused.headers['x-should-retry']], [401, 'true'])
    assert.equal((await world.call('GET', '/a/usage')).json.rate_limited_now, false)
    world.statuses.set(second, 429)
    const limited = await ask()
    assert.deepEqual(
      [limited.status, limited.headers['x-should-retry'], limited.headers['retry-after']],
      [429, undefined, '600'],
    )
    assert.equal((await world.call('GET', '/agents/scout/auth')).json.subscription_name, 'b')
    assert.equal(world.alerts.length, 1)
    await world.add('a', plan)
    await ask()
    assert.equal(
      (await world.call('GET', '/agents/scout/auth')).json.subscription_name,
      'a',
      'its token was replaced',
    )
  })

  test('an agent returns to its assigned subscription once the limit or refusal has passed', async () => {
    await using world = await startWorld({ db: await open() })
    const on = async () => (await world.call('GET', '/agents/scout/auth')).json.subscription_name
    for (const [name, token] of [
      ['a', first],
      ['b', second],
      ['c', plan],
    ] as const)
      await world.add(name, token)
    await world.call('PUT', '/agents/scout', { subscription_name: 'a' })
    const ask = await world.run()
    world.statuses.set(first, 429).set(second, 401)
    await ask()
    await ask()
    assert.equal(await on(), 'c', 'two moves')
    world.statuses.clear()
    await ask()
    assert.deepEqual(
      [await on(), world.requests.at(-1)?.key],
      ['c', plan],
      'the limit of the first one lasts',
    )
    world.clock.set('2026-01-05T08:11:00.000Z')
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask()))
    assert.ok(replies.every(({ status }) => status === 200))
    assert.deepEqual([await on(), world.requests.at(-1)?.key], ['a', first])
    const count = await world.events('agent.settings_changed')
    assert.equal(count, 4, 'assigned, moved twice, back once')
    await ask()
    assert.equal(await world.events('agent.settings_changed'), count)

    world.statuses.set(first, 401)
    await ask()
    assert.equal(await on(), 'c', 'the refusal of the second one lasts')
    await world.call('PUT', '/agents/scout', { subscription_name: 'c' })
    world.statuses.clear()
    world.clock.set('2026-01-06T08:00:00.000Z')
    await ask()
    assert.equal(await on(), 'c', 'the latest assignment is its home')
  })

  test('the home may be deleted, and no agent returns while the setting is off', async () => {
    let isOn = true
    await using world = await startWorld({ db: await open(), isAutoSwitchOn: () => isOn })
    const on = async () => (await world.call('GET', '/agents/scout/auth')).json.subscription_name
    await world.add('a', first)
    await world.add('b', second)
    await world.call('PUT', '/agents/scout', { subscription_name: 'a' })
    const ask = await world.run()
    world.statuses.set(first, 429)
    await ask()
    world.statuses.clear()
    world.clock.set('2026-01-06T08:00:00.000Z')
    isOn = false
    await ask()
    assert.equal(await on(), 'b')
    isOn = true
    await world.call('DELETE', '/a')
    assert.equal((await ask()).status, 200)
    assert.equal(await on(), 'b')
  })

  test("Google's reason for a bad key is read from the response, which reaches the client unchanged", async () => {
    const agents = { g1: { name: 'gem', runtime: 'gemini-cli' as const } }
    await using world = await startWorld({ db: await open(), agents })
    await world.add('a', first, { provider: 'google' })
    await world.add('b', second, { provider: 'google' })
    await world.platform.providerSubscriptions.assign({ id: 'g1', name: 'gem' }, 'a')
    const run = await world.run('g1', 'gem')
    const ask = () => run('/v1beta/models/gemini-2.5-flash:generateContent', 'hello', 'google')
    const refusal = (reason: string) => ({ error: { code: 400, status: 'X', details: [{ reason }] } })
    world.statuses.set(first, 400)
    world.refusals.set(first, refusal('FIELD_VIOLATION'))
    assert.equal((await ask()).headers['x-should-retry'], 'false')
    assert.equal(world.alerts.length, 0)
    world.refusals.set(first, { ...refusal('API_KEY_INVALID'), filler: 'x'.repeat(100_000) })
    assert.match((await ask()).text, /x{100000}/)
    assert.equal(world.alerts.length, 0, 'too long for a refusal')
    world.refusals.set(first, refusal('API_KEY_INVALID'))
    const refused = await ask()
    assert.deepEqual([refused.status, refused.headers['x-should-retry']], [400, 'true'])
    assert.deepEqual(JSON.parse(refused.text), refusal('API_KEY_INVALID'))
    assert.equal((await ask()).status, 200)
    assert.equal(world.requests.at(-1)?.key, second)
  })

  test('no switch while the setting is off, for count_tokens, or without a subscription', async () => {
    let isOn = true
    await using world = await startWorld({ db: await open(), isAutoSwitchOn: () => isOn })
    await world.add('a', first)
    await world.add('b', second)
    const ask = await world.run()
    world.statuses.set('provider-key-1', 429)
    assert.equal((await ask()).headers['retry-after'], '600')
    await world.call('PUT', '/agents/scout', { subscription_name: 'a' })
    world.statuses.set(first, 429)
    assert.equal((await ask('/v1/messages/count_tokens')).headers['retry-after'], '600')
    isOn = false
    assert.equal((await ask()).headers['retry-after'], '600')
    assert.equal((await world.call('GET', '/agents/scout/auth')).json.subscription_name, 'a')
    assert.equal((await world.call('GET', '/a/usage')).json.failure_events_24h, 1)
    assert.deepEqual(world.alerts, [])
  })

  test('503 for a token that cannot be unsealed; the platform key is not used instead', async () => {
    const db = await open()
    await using world = await startWorld({ db })
    await world.add('team', first)
    await world.call('PUT', '/agents/scout', { subscription_name: 'team' })
    await db
      .withTables<{ provider_subscriptions: { sealed_token: string } }>()
      .updateTable('provider_subscriptions')
      .set({ sealed_token: 'v1.of-another-installation-with-another-key-entirely' })
      .execute()
    const reply = await (await world.run())()
    assert.equal(reply.status, 503)
    assert.match(reply.text, /not_configured/)
    assert.deepEqual(world.requests, [])
  })

  test('no log, reply, event, alert, row or error contains the token', async () => {
    const db = await open()
    await using model = await startModelServer()
    await using world = await startWorld({ db, providerUrl: model.url })
    const canaries = ['sk-ant-oat01-CANARYplan', 'plainCANARYkey']
    for (const token of canaries) await world.call('POST', '/test', { token })
    await world.call('POST', '', { name: 'a', token: `${canaries[0]} with blanks` })
    await world.add('a', 'sk-ant-oat01-CANARYplan')
    await world.add('b', 'plainCANARYkey')
    await world.call('PUT', '/agents/scout', { subscription_name: 'a' })
    const ask = await world.run()
    for (const say of ['[[reply:yes]]', '[[ratelimit]]', '[[autherror]]', '[[fail:500]]', '[[cut]]'])
      await ask('/v1/messages', say).catch((error: unknown) => world.written.push(String(error)))
    assert.deepEqual(
      new Set(model.requests.map(({ key }) => key)),
      new Set(canaries),
      'both were on the wire',
    )
    await world.call('GET', '/a/usage')
    await world.call('DELETE', '/b')
    const rows = await world.platform.db
      .withTables<{ outbox: Record<string, unknown>; provider_subscriptions: Record<string, unknown> }>()
      .selectFrom('outbox')
      .selectAll()
      .execute()
    const stored = await world.platform.db
      .withTables<{ provider_subscriptions: Record<string, unknown> }>()
      .selectFrom('provider_subscriptions')
      .selectAll()
      .execute()
    assert.ok(rows.length > 0 && stored.length > 0 && world.alerts.length > 0)
    const everything = [...world.written, JSON.stringify([rows, stored, world.alerts])].join('\n')
    assert.doesNotMatch(everything, /CANARY/)
  })
})
