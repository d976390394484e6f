import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { type Loose, openPublicWorld } from './test/world.ts'

forEachDialect((_name, open) => {
  test("a visitor gets the description in the agent's workspace, which is cached for a minute", async () => {
    await using world = await openPublicWorld(open)
    const { token } = await world.newLink()
    const description = async () => (await world.visit('GET', `/link/${token}`)).json.agent_description
    const blank = {
      ...{ template_yaml: null, metrics_json: null, runtime_version: null },
      workspace_initialized: true,
    }
    let requests = 0
    world.link.link(world.agentId, {
      info: () => {
        requests += 1
        const template_yaml = 'name: scout\ndisplay_name: Scout\ndescription: Knows the birds.\n'
        return { ...blank, template_yaml }
      },
    })
    assert.equal(await description(), 'Knows the birds.')
    assert.equal(await description(), 'Knows the birds.')
    assert.equal(requests, 1)
    world.clock.set(new Date(world.clock.now().getTime() + 61_000))
    world.link.link(world.agentId, { info: () => blank })
    assert.equal(await description(), null)
  })

  test('an owner creates, reads, changes and deletes links; the database stores no readable token', async () => {
    await using world = await openPublicWorld(open)
    const link = await world.newLink({ name: ' Site ', daily_message_limit: 5 })
    assert.match(link.token, /^[A-Za-z0-9_-]{43}$/)
    assert.equal(link.url, `https://roost.example/chat/${link.token}`)
    assert.deepEqual(
      [
        link.agent_name,
        link.name,
        link.enabled,
        link.require_email,
        link.daily_message_limit,
        link.created_by,
      ],
      ['scout', 'Site', true, false, 5, 'ann@example.org'],
    )
    assert.deepEqual(link.usage, { total_messages: 0, unique_people: 0, last_used_at: null })
    const other = await world.newLink()
    const listed = await world.manage('GET')
    assert.deepEqual(new Set(listed.json.map(({ id }: Loose) => id)), new Set([link.id, other.id]))
    // Null leaves a switch unchanged.
    const change = { name: null, enabled: false, require_email: null }
    const changed = await world.manage('PUT', `/${link.id}`, change)
    assert.deepEqual(
      [changed.json.name, changed.json.enabled, changed.json.require_email, changed.json.daily_message_limit],
      [null, false, false, 5],
    )
    assert.deepEqual(changed.json.token, link.token)
    assert.deepEqual((await world.manage('GET', `/${link.id}`)).json, changed.json)
    const stored = JSON.stringify(
      await world.db.withTables<{ public_links: object }>().selectFrom('public_links').selectAll().execute(),
    )
    assert.equal(stored.includes(link.token), false)
    const deletion = await world.manage('DELETE', `/${link.id}`)
    assert.deepEqual([deletion.status, deletion.json.link_id], [200, link.id])
    assert.equal((await world.manage('GET', `/${link.id}`)).json.error, 'link_not_found')
    assert.deepEqual(
      (await world.eventTypes()).filter((type) => type.startsWith('public_link')),
      ['public_link.created', 'public_link.created', 'public_link.updated', 'public_link.deleted'],
    )
    assert.deepEqual(await world.lastEvent('public_link.deleted'), {
      link_id: link.id,
      name: null,
      enabled: false,
    })
  })

  test('403 owner_required for people with shared access; 404 for a link of another agent', async () => {
    await using world = await openPublicWorld(open)
    const link = await world.newLink()
    const sam = await world.person('creator', 'sam@example.org')
    assert.equal((await world.manage('GET', '', undefined, sam.key)).json.error, 'agent_not_found')
    await world.request(world.owner.key, 'POST', '/api/agents/scout/share', { email: 'sam@example.org' })
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['PUT', `/${link.id}`],
      ['DELETE', `/${link.id}`],
    ] as const) {
      const reply = await world.manage(method, path, method === 'PUT' ? {} : undefined, sam.key)
      assert.equal(reply.json.error, 'owner_required', `${method} ${path}`)
    }
    await world.request(sam.key, 'POST', '/api/agents', { name: 'other' })
    const path = `/api/agents/other/public-links/${link.id}`
    assert.equal((await world.request(sam.key, 'GET', path)).json.error, 'link_not_found')
    assert.equal((await world.request(sam.key, 'DELETE', path)).json.error, 'link_not_found')
    const agent = await world.agentKey(world.agentId)
    assert.equal((await world.manage('POST', '', {}, agent)).json.error, 'person_required')
  })

  test('422 names the field; a past expiry may be sent unchanged, but not set', async () => {
    await using world = await openPublicWorld(open)
    const invalidField = async (body: object) => {
      const { status, json } = await world.manage('POST', '', body)
      assert.equal(status, 422)
      return json.detail[0].loc.at(-1)
    }
    assert.equal(await invalidField({ name: 'x'.repeat(101) }), 'name')
    assert.equal(await invalidField({ daily_message_limit: 0 }), 'daily_message_limit')
    assert.equal(await invalidField({ enabled: 'yes' }), 'enabled')
    assert.equal(await invalidField({ expires_at: '2020-01-01T00:00:00Z' }), 'expires_at')
    const expires_at = new Date(world.clock.now().getTime() + 60_000).toISOString()
    const link = await world.newLink({ expires_at })
    await world.clock.advance(61)
    const renamed = await world.manage('PUT', `/${link.id}`, { name: 'over', expires_at })
    assert.deepEqual([renamed.status, renamed.json.name], [200, 'over'])
    assert.equal((await world.manage('PUT', `/${link.id}`, { expires_at: null })).json.expires_at, null)
  })

  test('an unknown, disabled, expired or deleted link is the same 404 on every route', async () => {
    await using world = await openPublicWorld(open)
    const expires_at = new Date(world.clock.now().getTime() + 60_000).toISOString()
    const [disabled, expired, deleted] = [
      await world.newLink(),
      await world.newLink({ expires_at }),
      await world.newLink(),
    ]
    const { json } = await world.visit('POST', `/chat/${disabled.token}`, { message: 'hi', async_mode: true })
    await world.manage('PUT', `/${disabled.id}`, { enabled: false })
    await world.manage('DELETE', `/${deleted.id}`)
    await world.clock.advance(61)
    const bodies = new Set<string>()
    for (const token of [disabled.token, expired.token, deleted.token, 'x'.repeat(43), 'nonsense']) {
      for (const [method, path, body] of [
        ['GET', `/link/${token}`],
        ['GET', `/link/${token}/picture`],
        ['POST', '/verify/request', { token, email: 'sam@example.org' }],
        ['POST', '/verify/confirm', { token, email: 'sam@example.org', code: '123456' }],
        ['POST', `/chat/${token}`, { message: 'hi' }],
        ['GET', `/history/${token}`],
        ['DELETE', `/session/${token}`],
        ['GET', `/executions/${token}/${json.execution_id}/status`],
        ['GET', `/executions/${token}/${json.execution_id}/stream`],
        ['POST', `/executions/${token}/${json.execution_id}/terminate`],
      ] as const) {
        const reply = await world.visit(method, path, body)
        assert.equal(reply.status, 404, `${method} ${path}`)
        const { request_id, ...rest } = reply.json
        assert.ok(request_id)
        bodies.add(JSON.stringify(rest))
      }
    }
    const body = {
      detail: 'There is no such link.',
      error: 'link_not_found',
      docs_url: '/help/errors/link_not_found',
    }
    assert.deepEqual([...bodies], [JSON.stringify(body)])
  })

  test('404 feature_disabled for owners and visitors while the feature is off', async () => {
    await using world = await openPublicWorld(open)
    const link = await world.newLink()
    world.flag.isOn = false
    assert.equal((await world.manage('GET')).json.error, 'feature_disabled')
    assert.equal((await world.visit('GET', `/link/${link.token}`)).json.error, 'feature_disabled')
    assert.equal(
      (await world.visit('POST', `/chat/${link.token}`, { message: 'hi' })).json.error,
      'feature_disabled',
    )
  })

  test("links follow a renamed agent and are deleted with it; a link's conversations are deleted with the link", async () => {
    await using world = await openPublicWorld(open)
    const link = await world.newLink()
    await world.turn(link.token, { message: 'hi' })
    const rename = { new_name: 'ranger' }
    assert.equal(
      (await world.request(world.owner.key, 'PUT', '/api/agents/scout/rename', rename)).status,
      200,
    )
    const renamed = await world.request(world.owner.key, 'GET', '/api/agents/ranger/public-links')
    assert.deepEqual(
      renamed.json.map(({ id, agent_name }: Loose) => [id, agent_name]),
      [[link.id, 'ranger']],
    )
    const second = (await world.request(world.owner.key, 'POST', '/api/agents/ranger/public-links', {})).json
    await world.turn(second.token, { message: 'hi' })
    const rows = (
      table: 'public_links' | 'public_visitors' | 'public_turns' | 'chat_sessions' | 'chat_messages',
    ) => world.db.withTables<Record<typeof table, object>>().selectFrom(table).selectAll().execute()
    await world.request(world.owner.key, 'DELETE', `/api/agents/ranger/public-links/${second.id}`)
    for (const table of ['public_links', 'public_visitors', 'public_turns', 'chat_sessions'] as const) {
      assert.equal((await rows(table)).length, 1, table)
    }
    assert.equal((await world.request(world.owner.key, 'DELETE', '/api/agents/ranger')).status, 200)
    for (const table of [
      'public_links',
      'public_visitors',
      'public_turns',
      'chat_sessions',
      'chat_messages',
    ] as const) {
      assert.deepEqual(await rows(table), [], table)
    }
  })
})
