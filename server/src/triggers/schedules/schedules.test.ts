import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect, openTestDatabase } from '../../test/dialects.ts'
import { openHelper } from '../test/schedules-world.ts'
import { scheduleStore } from './store.ts'

const base = { name: 'nightly', cron_expression: '0 3 * * *', message: 'tidy up' }
const url = '/api/agents/helper/schedules'

forEachDialect((_dialect, open) => {
  test('201 with the stored schedule and its defaults', async () => {
    await using it = await openHelper(await open())
    const created = await it.create()
    assert.deepEqual(
      { ...created, id: 'x' },
      {
        id: 'x',
        agent_name: 'helper',
        ...base,
        description: null,
        enabled: true,
        timezone: 'UTC',
        misfire_policy: 'run_once',
        timeout_seconds: null,
        allowed_tools: null,
        model: null,
        deliver_to_workspace_email: null,
        max_retries: 0,
        retry_delay_seconds: 60,
        validation_enabled: false,
        validation_prompt: null,
        validation_timeout_seconds: 120,
        undo_failed: false,
        next_run_at: '2030-01-01T03:00:00.000Z',
        last_run_at: null,
        last_run_status: null,
        last_fire: null,
        registration_error: null,
        disabled_reason: null,
        webhook_enabled: false,
        created_by: 'ann@example.com',
        created_at: '2030-01-01T00:00:00.000Z',
        updated_at: '2030-01-01T00:00:00.000Z',
        deleted_at: null,
      },
    )
    const list = await it.request(it.shared.key, 'GET', url)
    assert.deepEqual(list.json, [created])
    assert.deepEqual((await it.request(it.shared.key, 'GET', `${url}/${created.id}`)).json, created)
  })

  test('the stored schedule equals the request, and null clears a field', async () => {
    await using it = await openHelper(await open())
    const request = {
      description: 'every night',
      enabled: false,
      timezone: 'US/Eastern',
      misfire_policy: 'skip',
      timeout_seconds: 600,
      allowed_tools: ['Read', 'Bash(git log:*)'],
      model: 'Sonnet[1m]',
      deliver_to_workspace_email: 'Sam@Example.com',
      max_retries: 5,
      retry_delay_seconds: 600,
      validation_enabled: true,
      validation_prompt: 'Is it tidy?',
      validation_timeout_seconds: 30,
      undo_failed: true,
    }
    const created = await it.create(request)
    for (const [field, value] of Object.entries({
      ...request,
      deliver_to_workspace_email: 'sam@example.com',
    })) {
      assert.deepEqual(created[field], value, field)
    }
    assert.equal(created.next_run_at, null)
    const cleared = {
      description: null,
      timeout_seconds: null,
      allowed_tools: null,
      model: null,
      deliver_to_workspace_email: null,
      validation_prompt: null,
    }
    const changed = await it.request(it.owner.key, 'PUT', `${url}/${created.id}`, cleared)
    assert.deepEqual(changed.json, { ...created, ...cleared })
    const same = await it.request(it.owner.key, 'PUT', `${url}/${created.id}`, { model: '  ' })
    assert.equal(same.json.model, null)
  })

  test('422 and 400 name the field and its rule; nothing is stored', async () => {
    await using it = await openHelper(await open())
    const table: [body: object, status: number, error: string][] = [
      [{ name: undefined }, 422, 'validation_error'],
      [{ cron_expression: undefined }, 422, 'validation_error'],
      [{ message: undefined }, 422, 'validation_error'],
      // Null clears optional fields; it is invalid for others.
      [{ enabled: null }, 422, 'validation_error'],
      [{ timezone: null }, 422, 'validation_error'],
      [{ misfire_policy: null }, 422, 'validation_error'],
      [{ max_retries: null }, 422, 'validation_error'],
      [{ retry_delay_seconds: null }, 422, 'validation_error'],
      [{ validation_enabled: null }, 422, 'validation_error'],
      [{ validation_timeout_seconds: null }, 422, 'validation_error'],
      [{ name: '' }, 422, 'validation_error'],
      [{ name: 'x'.repeat(201) }, 422, 'validation_error'],
      [{ description: 'x'.repeat(2001) }, 422, 'validation_error'],
      [{ message: '' }, 422, 'validation_error'],
      [{ message: 'x'.repeat(100_001) }, 422, 'validation_error'],
      [{ max_retries: 6 }, 422, 'validation_error'],
      [{ max_retries: -1 }, 422, 'validation_error'],
      [{ max_retries: '1' }, 422, 'validation_error'],
      [{ retry_delay_seconds: 29 }, 422, 'validation_error'],
      [{ retry_delay_seconds: 601 }, 422, 'validation_error'],
      [{ validation_timeout_seconds: 29 }, 422, 'validation_error'],
      [{ validation_timeout_seconds: 601 }, 422, 'validation_error'],
      [{ validation_prompt: 'é'.repeat(16_385) }, 422, 'validation_error'],
      [{ misfire_policy: 'never' }, 422, 'validation_error'],
      [{ timeout_seconds: 1.5 }, 422, 'validation_error'],
      [{ model: 'llama' }, 422, 'invalid_model'],
      [{ cron_expression: '@daily' }, 400, 'invalid_cron_expression'],
      [{ cron_expression: '0 0 3 * * *' }, 400, 'invalid_cron_expression'],
      [{ cron_expression: '61 * * * *' }, 400, 'invalid_cron_expression'],
      [{ cron_expression: '0 0 30 2 *' }, 400, 'invalid_cron_expression'],
      [{ timezone: 'Mars/Olympus' }, 400, 'invalid_timezone'],
      [{ timezone: '+02:00' }, 400, 'invalid_timezone'],
      [{ timezone: 'PST' }, 400, 'invalid_timezone'],
      [{ timezone: '' }, 400, 'invalid_timezone'],
      [{ deliver_to_workspace_email: 'nobody' }, 400, 'invalid_recipient'],
      [{ deliver_to_workspace_email: '' }, 400, 'invalid_recipient'],
      [{ timeout_seconds: 3601 }, 400, 'schedule_timeout_exceeds_agent_cap'],
    ]
    const created = await it.create()
    for (const [over, status, error] of table) {
      const said = JSON.stringify(over).slice(0, 80)
      const reply = await it.request(it.owner.key, 'POST', url, { ...base, ...over })
      assert.deepEqual([reply.status, reply.json.error], [status, error], said)
      const [field] = Object.entries(over)[0] ?? []
      if (over[field as keyof typeof over] === undefined) continue
      const changed = await it.request(it.owner.key, 'PUT', `${url}/${created.id}`, over)
      assert.deepEqual([changed.status, changed.json.error], [status, error], `PUT ${said}`)
    }
    assert.deepEqual((await it.request(it.owner.key, 'GET', url)).json, [created])
    const { json } = await it.request(it.owner.key, 'POST', url, { ...base, timeout_seconds: 9000 })
    assert.deepEqual([json.agent_cap_seconds, json.requested_seconds], [3600, 9000])
  })

  test('422 when the messages of all schedules of an agent would become too long to list', async () => {
    await using it = await openHelper(await open())
    const long = 'x'.repeat(100_000)
    const { id } = await it.create()
    const shared = await it.create({ message: long })
    for (let count = 1; count < 99; count += 1) await it.create({ message: long })
    await it.create()
    const refused = await it.request(it.owner.key, 'POST', url, { ...base, message: long })
    assert.deepEqual([refused.status, refused.json.error], [422, 'validation_error'])
    assert.match(refused.json.detail, /message: .* at most 10000000 characters together/)
    const grown = await it.request(it.owner.key, 'PUT', `${url}/${id}`, { message: long })
    assert.equal(grown.status, 422)
    assert.equal((await it.request(it.owner.key, 'PUT', `${url}/${shared.id}`, { message: 'x' })).status, 200)
    assert.equal((await it.request(it.owner.key, 'PUT', `${url}/${id}`, { message: long })).status, 200)
  })

  test("400 when an agent's timeout would fall below one of its schedules'", async () => {
    await using it = await openHelper(await open())
    const long = await it.create({ name: 'long', timeout_seconds: 1800 })
    await it.create({ name: 'short', timeout_seconds: 60 })
    const lower = (seconds: number) =>
      it.request(it.owner.key, 'PUT', '/api/agents/helper/timeout', { execution_timeout_seconds: seconds })
    const refused = await lower(900)
    assert.equal(refused.json.error, 'agent_timeout_below_active_schedules')
    assert.deepEqual(refused.json.blocking_schedules, [{ id: long.id, name: 'long', timeout_seconds: 1800 }])
    assert.equal((await lower(1800)).status, 200)
    await it.request(it.owner.key, 'DELETE', `${url}/${long.id}`)
    assert.equal((await lower(900)).status, 200)
  })

  test('a disabled schedule does not limit the timeout of its agent; enabling it checks the cap', async () => {
    await using it = await openHelper(await open())
    const { id } = await it.create({ name: 'long', timeout_seconds: 1800, enabled: false })
    const one = (method: string, path = '', body?: object) =>
      it.request(it.owner.key, method, `${url}/${id}${path}`, body)
    const lower = (seconds: number) =>
      it.request(it.owner.key, 'PUT', '/api/agents/helper/timeout', { execution_timeout_seconds: seconds })
    assert.equal((await lower(900)).status, 200)
    const above = { agent_cap_seconds: 900, requested_seconds: 1800 }
    for (const refused of [await one('POST', '/enable'), await one('PUT', '', { enabled: true })]) {
      const { error, agent_cap_seconds, requested_seconds } = refused.json
      assert.deepEqual([refused.status, error], [400, 'schedule_timeout_exceeds_agent_cap'])
      assert.deepEqual({ agent_cap_seconds, requested_seconds }, above)
    }
    assert.equal((await one('PUT', '', { name: 'still long' })).json.enabled, false)
    assert.equal((await one('PUT', '', { enabled: true, timeout_seconds: 900 })).json.enabled, true)
    assert.equal((await lower(600)).json.error, 'agent_timeout_below_active_schedules')
    await it.request(it.admin.key, 'POST', '/api/ops/schedules/pause', {})
    assert.equal(
      (await lower(600)).json.error,
      'agent_timeout_below_active_schedules',
      'a paused one comes back',
    )
    await one('POST', '/disable')
    assert.equal((await lower(600)).status, 200)
    await it.request(it.owner.key, 'DELETE', `${url}/${id}`)
    const path = `/api/admin/soft-deleted/schedules/${id}/recover`
    const recovered = await it.request(it.admin.key, 'POST', path)
    assert.deepEqual([recovered.json.enabled, recovered.json.timeout_seconds], [false, 600])
    assert.equal((await one('POST', '/enable')).status, 200)
  })

  test('no schedule ends above a cap that is lowered during twenty concurrent changes', async () => {
    await using it = await openHelper(await open())
    const created = await it.create()
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0
          ? it.request(it.owner.key, 'PUT', `${url}/${created.id}`, { timeout_seconds: 1200 + i })
          : it.request(it.owner.key, 'PUT', '/api/agents/helper/timeout', {
              execution_timeout_seconds: 600 + i,
            }),
      ),
    )
    const cap = (await it.row('helper')).execution_timeout_seconds
    const { json } = await it.request(it.owner.key, 'GET', `${url}/${created.id}`)
    assert.ok((json.timeout_seconds ?? 0) <= cap, `${json.timeout_seconds} under ${cap}`)
  })

  test('200, 403 or 404 by relation: owner, admin, the agent itself, shared, creator, stranger', async () => {
    await using it = await openHelper(await open())
    const { owner, admin, shared, stranger, agentKey } = it
    const own = await it.create()
    const sams = await it.create({ name: "sam's" }, shared.key)
    const one = (id: string) => `${url}/${id}`
    const table: [
      key: string,
      method: string,
      path: string,
      body: object | undefined,
      status: number,
      error?: string,
    ][] = [
      [stranger.key, 'POST', url, base, 403, 'agent_access_denied'],
      [stranger.key, 'POST', url, {}, 403, 'agent_access_denied'],
      [stranger.key, 'POST', '/api/agents/nobody/schedules', {}, 404, 'agent_not_found'],
      [stranger.key, 'POST', '/api/agents/nobody/schedules', base, 404, 'agent_not_found'],
      [stranger.key, 'GET', url, undefined, 404, 'agent_not_found'],
      [stranger.key, 'PUT', one(own.id), {}, 404, 'agent_not_found'],
      [stranger.key, 'DELETE', one(own.id), undefined, 404, 'agent_not_found'],
      [shared.key, 'PUT', one(own.id), { name: 'mine' }, 403, 'owner_required'],
      // Callers may always name themselves, and always end a delivery.
      [shared.key, 'PUT', one(own.id), { deliver_to_workspace_email: 'sam@example.com' }, 200],
      [shared.key, 'PUT', one(own.id), { deliver_to_workspace_email: null }, 200],
      [
        shared.key,
        'PUT',
        one(own.id),
        { deliver_to_workspace_email: null, name: 'x' },
        403,
        'owner_required',
      ],
      [
        shared.key,
        'PUT',
        one(own.id),
        { deliver_to_workspace_email: 'ann@example.com' },
        403,
        'delivery_target_requires_owner',
      ],
      [shared.key, 'DELETE', one(own.id), undefined, 403, 'owner_required'],
      [shared.key, 'POST', `${one(own.id)}/enable`, undefined, 403, 'owner_required'],
      [shared.key, 'POST', `${one(own.id)}/disable`, undefined, 403, 'owner_required'],
      [shared.key, 'PUT', one(sams.id), { name: 'still mine', enabled: true }, 200],
      [shared.key, 'PUT', one(sams.id), { enabled: false }, 403, 'owner_required'],
      [shared.key, 'DELETE', one(sams.id), undefined, 403, 'owner_required'],
      [shared.key, 'PUT', one('unknown'), {}, 404, 'schedule_not_found'],
      [agentKey, 'POST', url, base, 201],
      [agentKey, 'PUT', one(own.id), { name: 'renamed by itself' }, 200],
      [agentKey, 'POST', `${one(own.id)}/disable`, undefined, 200],
      [agentKey, 'POST', `${one(own.id)}/trigger`, undefined, 200],
      [shared.key, 'POST', `${one(own.id)}/trigger`, undefined, 403, 'owner_required'],
      [stranger.key, 'POST', `${one(own.id)}/trigger`, undefined, 404, 'agent_not_found'],
      [admin.key, 'PUT', one(sams.id), { enabled: false }, 200],
      [admin.key, 'POST', `${one(own.id)}/enable`, undefined, 200],
      [owner.key, 'DELETE', one(sams.id), undefined, 204],
      [owner.key, 'GET', one(sams.id), undefined, 404, 'schedule_not_found'],
      [owner.key, 'DELETE', one(sams.id), undefined, 404, 'schedule_not_found'],
    ]
    for (const [key, method, path, body, status, error] of table) {
      const reply = await it.request(key, method, path, body)
      assert.deepEqual([reply.status, reply.json?.error], [status, error], `${method} ${path}`)
    }
    const agents = (await it.request(owner.key, 'GET', url)).json.find(
      (each: { created_by: string }) => each.created_by === 'helper',
    )
    assert.equal(agents?.name, 'nightly')
  })

  test('recipients: callers name themselves, the owner anybody, an agent its owner; unchanged and null are allowed', async () => {
    await using it = await openHelper(await open())
    const { owner, shared, agentKey, admin } = it
    const put = (key: string, id: string, address: string | null) =>
      it.request(key, 'PUT', `${url}/${id}`, { deliver_to_workspace_email: address })
    const sams = await it.create({ deliver_to_workspace_email: shared.email }, shared.key)
    const refused = await it.request(shared.key, 'POST', url, {
      ...base,
      deliver_to_workspace_email: owner.email,
    })
    assert.deepEqual([refused.status, refused.json.error], [403, 'delivery_target_requires_owner'])
    assert.equal((await put(shared.key, sams.id, owner.email)).status, 403)
    assert.equal((await put(owner.key, sams.id, 'unknown@example.com')).status, 200)
    assert.equal((await put(shared.key, sams.id, 'unknown@example.com')).status, 200)
    assert.equal((await put(shared.key, sams.id, null)).status, 200)
    assert.equal((await put(admin.key, sams.id, owner.email)).status, 200)
    assert.equal((await put(agentKey, sams.id, shared.email)).status, 403)
    assert.equal((await put(agentKey, sams.id, owner.email)).status, 200)
  })

  test('message and validation prompt belong to the one who wrote them', async () => {
    const db = await open()
    await using it = await openHelper(db)
    const { owner, shared, agentKey } = it
    const principal = async (id: string) => (await scheduleStore(db).byId(id))?.principal
    const ofPrompt = async (id: string) => (await scheduleStore(db).byId(id))?.validation_principal
    const put = async (key: string, id: string, body: object) =>
      assert.equal((await it.request(key, 'PUT', `${url}/${id}`, body)).status, 200)
    const { id } = await it.create({}, shared.key)
    assert.equal(await principal(id), `user:${shared.id}`)
    await put(owner.key, id, { name: 'renamed', message: base.message, enabled: false })
    assert.equal(await principal(id), `user:${shared.id}`, 'the message is the same')
    await put(owner.key, id, { message: 'other words' })
    assert.equal(await principal(id), `user:${owner.id}`)
    await put(shared.key, id, { message: 'my words' })
    assert.equal(await principal(id), `user:${shared.id}`)
    await put(owner.key, id, { validation_prompt: 'was it done?' })
    assert.deepEqual([await principal(id), await ofPrompt(id)], [`user:${shared.id}`, `user:${owner.id}`])
    await put(owner.key, id, { message: 'words of the owner' })
    assert.deepEqual([await principal(id), await ofPrompt(id)], [`user:${owner.id}`, null])
    await put(shared.key, id, { message: 'my words again' })
    assert.deepEqual([await principal(id), await ofPrompt(id)], [`user:${shared.id}`, `user:${owner.id}`])
    await put(owner.key, id, { validation_prompt: null })
    assert.equal(await ofPrompt(id), null)
    await put(agentKey, id, { message: 'words of the agent' })
    assert.match((await principal(id)) ?? '', /^agent:/)
  })

  test("a creator neither changes how another person's message runs nor ends a pause", async () => {
    const db = await open()
    await using it = await openHelper(db)
    const { owner, shared } = it
    const { id } = await it.create({}, shared.key)
    const put = (key: string, body: object) => it.request(key, 'PUT', `${url}/${id}`, body)
    await put(owner.key, { message: 'words of the owner' })
    for (const body of [
      { undo_failed: true },
      { allowed_tools: ['Bash'] },
      { cron_expression: '* * * * *' },
    ]) {
      const refused = await put(shared.key, body)
      assert.deepEqual([refused.status, refused.json.error], [403, 'owner_required'])
      assert.match(refused.json.detail, new RegExp(Object.keys(body)[0] ?? ''))
    }
    const same = { message: 'words of the owner', undo_failed: false, cron_expression: base.cron_expression }
    assert.equal((await put(shared.key, { ...same, description: 'mine' })).status, 200)
    assert.equal((await put(shared.key, { message: 'my words', undo_failed: true })).status, 200)
    await db.atomically((tx) => scheduleStore(tx).update(id, { enabled: 0, is_paused: 1 }))
    assert.equal((await put(shared.key, { enabled: false, name: 'other' })).status, 200)
    const { is_paused, name } = (await scheduleStore(db).byId(id)) ?? assert.fail()
    assert.deepEqual([is_paused, name], [1, 'other'])
  })

  test('enabling or a new time restarts the due times; other changes do not', async () => {
    await using it = await openHelper(await open())
    const created = await it.create()
    const armedAt = async () => (await it.schedules.byId(created.id))?.armed_at
    const put = (body: object) => it.request(it.owner.key, 'PUT', `${url}/${created.id}`, body)
    await it.clock.advance(60)
    await put({ name: 'other', cron_expression: base.cron_expression, enabled: true })
    assert.equal(await armedAt(), '2030-01-01T00:00:00.000Z')
    await put({ cron_expression: '5 3 * * *' })
    assert.equal(await armedAt(), '2030-01-01T00:01:00.000Z')
    await it.clock.advance(60)
    await put({ timezone: 'Europe/Berlin' })
    assert.equal(await armedAt(), '2030-01-01T00:02:00.000Z')
    await it.clock.advance(60)
    await put({ enabled: false })
    assert.equal(await armedAt(), '2030-01-01T00:02:00.000Z')
    await it.request(it.owner.key, 'POST', `${url}/${created.id}/enable`)
    assert.equal(await armedAt(), '2030-01-01T00:03:00.000Z')
  })

  test('every change, also a deletion, gets a higher position than all earlier ones', async () => {
    await using it = await openHelper(await open())
    const [one, two] = [await it.create({ name: 'one' }), await it.create({ name: 'two' })]
    const after = async (position: number) => {
      const rows = await it.schedules.changesAfter(position, 100)
      return rows.map(({ name, deleted_at }) => (deleted_at ? `${name} deleted` : name))
    }
    const last = async () => Math.max(...(await it.schedules.changesAfter(0, 100)).map((row) => row.position))
    assert.deepEqual(await after(0), ['one', 'two'])
    const position = await last()
    await it.request(it.owner.key, 'PUT', `${url}/${one.id}`, { message: 'more' })
    await it.request(it.owner.key, 'DELETE', `${url}/${two.id}`)
    assert.deepEqual(await after(position), ['one', 'two deleted'])
    assert.deepEqual(await after(await last()), [])
  })

  test('positions are unique under twenty concurrent changes in two processes', async () => {
    const db = await open()
    await using it = await openHelper(db)
    await Promise.all(Array.from({ length: 20 }, (_, i) => it.create({ name: `s${i}` })))
    const rows = await it.schedules.changesAfter(0, 100)
    assert.equal(new Set(rows.map(({ position }) => position)).size, 20)
  })

  test('next due times in the zone of the schedule, also while it is disabled', async () => {
    await using it = await openHelper(await open())
    const created = await it.create({ timezone: 'America/New_York', enabled: false })
    const reply = await it.request(it.shared.key, 'GET', `${url}/${created.id}/next?count=2`)
    assert.deepEqual(reply.json, {
      schedule_id: created.id,
      timezone: 'America/New_York',
      next: ['2030-01-01T08:00:00.000Z', '2030-01-02T08:00:00.000Z'],
    })
    assert.equal((await it.request(it.owner.key, 'GET', `${url}/${created.id}/next?count=0`)).status, 422)
  })

  test('creation, change and deletion leave an event each', async () => {
    await using it = await openHelper(await open())
    const created = await it.create()
    await it.request(it.owner.key, 'POST', `${url}/${created.id}/disable`)
    await it.request(it.owner.key, 'POST', `${url}/${created.id}/disable`)
    await it.request(it.owner.key, 'DELETE', `${url}/${created.id}`)
    const types = (await it.world.eventTypes()).filter((type) => type.startsWith('schedule.'))
    assert.deepEqual(types, ['schedule.created', 'schedule.updated', 'schedule.deleted'])
    assert.deepEqual(await it.world.lastEvent('schedule.updated'), {
      schedule_id: created.id,
      schedule_name: 'nightly',
      enabled: false,
    })
  })
})

test('a stored expression that cannot be registered is flagged and has no next time', async () => {
  const db = await openTestDatabase()
  await using it = await openHelper(db)
  const created = await it.create()
  const spoil = (set: object) =>
    db.withTables<{ schedules: Record<string, string> }>().updateTable('schedules').set(set).execute()
  await spoil({ cron_expression: 'nonsense' })
  const read = async () => (await it.request(it.owner.key, 'GET', `${url}/${created.id}`)).json
  const { registration_error, next_run_at } = await read()
  assert.deepEqual([registration_error, next_run_at], ['Invalid cron expression', null])
  assert.deepEqual((await it.request(it.owner.key, 'GET', `${url}/${created.id}/next`)).json.next, [])
  await spoil({ cron_expression: '0 3 * * *', timezone: 'Moon/Base' })
  assert.equal((await read()).registration_error, 'Invalid timezone')
})
