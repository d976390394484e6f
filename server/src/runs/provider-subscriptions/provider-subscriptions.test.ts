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
  test('an admin adds one, replaces it under its name, and its token is never shown', async () => {
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

  test('422 for a name, a token or a provider that is none; 403 for somebody who is no admin', async () => {
    await using world = await startWorld({ db: await open() })
    const wrong = [
      { name: 'team' },
      { name: '', token: first },
      { name: 'a/b', token: first },
      { name: 'team', token: 'short' },
      { name: 'team', token: `${first} ${first}` },
      { name: 'team', token: first, provider: 'github' },
    ]
    for (const body of wrong)
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

  test('409 for another provider under the name of one that agents use', async () => {
    await using world = await startWorld({ db: await open() })
    await world.add('team', first)
    assert.equal((await world.add('team', first, { provider: 'openai' })).json.provider, 'openai')
    await world.add('team', first)
    await world.call('PUT', '/agents/scout', { subscription_name: 'team' })
    assert.equal((await world.add('team', first, { provider: 'openai' })).json.error, 'conflict')
  })

  test('an agent asks with the key of the platform, with its subscription, and with nothing', async () => {
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
    assert.equal((await call('DELETE', '/agents/scout')).status, 200, 'clearing twice is no error')
  })

  test('404 for one that is not there, 422 for one of another provider, 403 for whom the agent is shared with', async () => {
    await using world = await startWorld({ db: await open() })
    await world.add('team', first, { provider: 'google' })
    const assign = (name: string, who?: string) =>
      world.call('PUT', '/agents/scout', { subscription_name: name }, who)
    assert.equal((await assign('nowhere')).json.error, 'not_found')
    const refused = await assign('team')
    assert.equal(refused.status, 422)
    assert.match(JSON.stringify(refused.json), /is of google; claude-code asks anthropic/)
    assert.equal((await assign('team', 'bob')).json.error, 'owner_required')
    for (const [method, path] of [
      ['DELETE', '/nowhere'],
      ['GET', '/nowhere/usage'],
    ] as const)
      assert.equal((await world.call(method, path)).json.error, 'not_found')
  })

  test('of a whole fleet it is told at once with what each agent asks', async () => {
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

  test('deleting one tells which agents it cleared; they ask with the key of the platform', async () => {
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
      world.asked.map(({ key }) => key),
      [first, 'provider-key-1'],
    )
    assert.deepEqual((await world.call('GET', '')).json, [])
  })

  test('a test asks the provider as the broker would, and keeps nothing', async () => {
    await using world = await startWorld({ db: await open() })
    const tried = async (token: string) => (await world.call('POST', '/test', { token })).json
    assert.deepEqual(await tried(plan), { valid: true, status: 'ok', message: 'The key works.' })
    assert.deepEqual(world.asked[0], { key: plan, beta: 'oauth-2025-04-20', path: '/v1/models?limit=1' })
    for (const [status, word] of [
      [401, 'invalid_token'],
      [429, 'rate_limited'],
      [500, 'unreachable'],
    ] as const) {
      world.statuses.set(first, status)
      const { valid, status: found } = await tried(first)
      assert.deepEqual([valid, found], [false, word])
    }
    assert.deepEqual((await world.call('GET', '')).json, [])
  })
})
