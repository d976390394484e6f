import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { startWorld } from './test/world.ts'

const [first, second, plan] = [
  'sk-ant-api03-first-token',
  'sk-ant-api03-second-token',
  'sk-ant-oat01-plan-token',
]

forEachDialect((_, open) => {
  test('an admin adds a subscription and replaces it by name; its token is never shown', async () => {
    await using world = await startWorld({ db: await open() })
    const { add, call, written } = world
    const made = await add('team', first, { subscription_type: 'max', rate_limit_tier: '20x' })
    assert.equal(made.status, 200)
    const { id, created_at, ...rest } = made.json
    assert.deepEqual(rest, {
      ...{ name: 'team', provider: 'anthropic', subscription_type: 'max', rate_limit_tier: '20x' },
      ...{ updated_at: created_at, agent_count: 0, agents: [] },
    })
    await call('PUT', '/agents/scout', { subscription_name: 'team' })
    await world.clock.advance(60)
    const again = await add('team', second)
    assert.deepEqual([again.json.id, again.json.created_at], [id, created_at])
    assert.deepEqual([again.json.subscription_type, again.json.agents], [null, ['scout']])
    assert.notEqual(again.json.updated_at, created_at)
    await add('another', first, { provider: 'google' })
    const { json } = await call('GET', '')
    assert.deepEqual(
      json.map((each: { name: string; agent_count: number }) => [each.name, each.agent_count]),
      [
        ['another', 0],
        ['team', 1],
      ],
    )
    assert.ok(![first, second].some((token) => written.join().includes(token)))
  })

  test('422 for an invalid name, token or provider; 403 for a user without the admin role', async () => {
    await using world = await startWorld({ db: await open() })
    const invalid = [
      { name: 'team' },
      { name: '', token: first },
      { name: 'a/b', token: first },
      { name: 'team', token: 'short' },
      { name: 'team', token: `${first} ${first}` },
      { name: 'team', token: first, provider: 'github' },
    ]
    for (const body of invalid)
      assert.equal((await world.call('POST', '', body)).status, 422, JSON.stringify(body))
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['DELETE', '/x'],
      ['GET', '/x/usage'],
    ] as const) {
      const body = method === 'POST' ? { name: 'team', token: first } : undefined
      assert.equal((await world.call(method, path, body, 'bob')).json.error, 'admin_required')
    }
  })

  test('409 when a used subscription is replaced by one of another provider', async () => {
    await using world = await startWorld({ db: await open() })
    await world.add('team', first)
    assert.equal((await world.add('team', first, { provider: 'openai' })).json.provider, 'openai')
    await world.add('team', first)
    await world.call('PUT', '/agents/scout', { subscription_name: 'team' })
    assert.equal((await world.add('team', first, { provider: 'openai' })).json.error, 'conflict')
  })

  test('the auth mode of an agent is the platform key, its subscription or not_configured', async () => {
    await using world = await startWorld({ db: await open(), providerKey: null })
    const { add, call } = world
    const auth = async () => (await call('GET', '/agents/scout/auth', undefined, 'bob')).json
    const none = { agent_name: 'scout', subscription_name: null, has_api_key: false }
    assert.deepEqual(await auth(), { ...none, auth_mode: 'not_configured' })
    await add('team', first)
    const assigned = await call('PUT', '/agents/scout', { subscription_name: 'team' })
    assert.deepEqual(assigned.json, { success: true, agent_name: 'scout', subscription_name: 'team' })
    assert.deepEqual(await auth(), { ...none, auth_mode: 'subscription', subscription_name: 'team' })
    const cleared = await call('DELETE', '/agents/scout')
    assert.deepEqual(cleared.json, { success: true, agent_name: 'scout', subscription_name: null })
    assert.deepEqual(await auth(), { ...none, auth_mode: 'not_configured' })
    assert.equal((await call('DELETE', '/agents/scout')).status, 200, 'clearing twice succeeds')
  })

  test('404 for an unknown subscription, 422 for another provider, 403 for a shared user', async () => {
    await using world = await startWorld({ db: await open() })
    await world.add('team', first, { provider: 'google' })
    const assign = (name: string, who?: string) =>
      world.call('PUT', '/agents/scout', { subscription_name: name }, who)
    assert.equal((await assign('nowhere')).json.error, 'not_found')
    const refused = await assign('team')
    assert.equal(refused.status, 422)
    assert.match(JSON.stringify(refused.json), /is of google; claude-code uses anthropic/)
    assert.equal((await assign('team', 'bob')).json.error, 'owner_required')
    for (const [method, path] of [
      ['DELETE', '/nowhere'],
      ['GET', '/nowhere/usage'],
    ] as const)
      assert.equal((await world.call(method, path)).json.error, 'not_found')
  })

  test('the auth modes of a whole fleet come from one call', async () => {
    const agents = { a2: { name: 'codex-1', runtime: 'codex' as const }, a3: { name: 'free' } }
    await using world = await startWorld({ db: await open(), agents })
    await world.add('team', first)
    await world.call('PUT', '/agents/scout', { subscription_name: 'team' })
    const all = await world.platform.agentRecords.everyRow()
    const auth = await world.platform.providerSubscriptions.auth(all)
    assert.deepEqual(
      ['a1', 'a2', 'a3'].map((id) => auth.get(id)?.auth_mode),
      ['subscription', 'api_key', 'api_key'],
    )
  })

  test('deletion returns the cleared agents, which then use the platform key', async () => {
    await using world = await startWorld({ db: await open(), agents: { a2: { name: 'atlas' } } })
    await world.add('team', first)
    await world.call('PUT', '/agents/scout', { subscription_name: 'team' })
    await world.platform.providerSubscriptions.assign({ id: 'a2', name: 'atlas' }, 'team')
    const ask = await world.run()
    await ask()
    const { json } = await world.call('DELETE', '/team')
    assert.deepEqual(json.agents_cleared, ['atlas', 'scout'])
    assert.equal((await ask()).status, 200)
    assert.deepEqual(
      world.requests.map(({ key }) => key),
      [first, 'provider-key-1'],
    )
    assert.deepEqual((await world.call('GET', '')).json, [])
  })

  test('a test sends the token to the provider as the broker would, and stores nothing', async () => {
    await using world = await startWorld({ db: await open() })
    const testToken = async (token: string) => (await world.call('POST', '/test', { token })).json
    assert.deepEqual(await testToken(plan), { valid: true, status: 'ok', message: 'The key works.' })
    assert.deepEqual(world.requests[0], { key: plan, beta: 'oauth-2025-04-20', path: '/v1/models?limit=1' })
    for (const [status, expected] of [
      [401, 'invalid_token'],
      [429, 'rate_limited'],
      [500, 'unreachable'],
    ] as const) {
      world.statuses.set(first, status)
      const { valid, status: found } = await testToken(first)
      assert.deepEqual([valid, found], [false, expected])
    }
    assert.deepEqual((await world.call('GET', '')).json, [])
  })
})
