import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { type Loose, openPublicWorld } from './test/world.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

forEachDialect((_name, open) => {
  test('a visitor gets replies in one conversation and can read it; costs are hidden', async () => {
    await using world = await openPublicWorld(open)
    const { id, token } = await world.newLink()
    assert.deepEqual((await world.visit('GET', `/link/${token}`)).json, {
      valid: true,
      require_email: false,
      agent_available: true,
      agent_label: 'scout',
      agent_description: null,
      greeting: null,
      starter_questions: [],
    })
    const metadata = { cost_usd: 0.5, input_tokens: 3, output_tokens: 4 }
    const first = await world.turn(token, { message: 'one' }, { metadata, runtime_session_id: 'r1' })
    assert.equal(first.status, 200, JSON.stringify(first.json))
    const { session_id } = first.json
    assert.match(session_id, /^[A-Za-z0-9_-]{43}$/)
    assert.deepEqual(first.json, {
      response: 'hello',
      session_id,
      execution_id: first.run.execution_id,
      message_count: 2,
      usage: { input_tokens: 3, output_tokens: 4 },
    })
    assert.equal(first.headers['x-execution-id'], first.run.execution_id)
    const second = await world.turn(token, { message: 'two', session_id })
    assert.equal(second.run.resume_session_id, 'r1')
    assert.deepEqual([second.json.session_id, second.json.message_count], [session_id, 4])
    const history = await world.history(token, `?session_id=${session_id}`)
    assert.deepEqual(
      history.messages.map(({ role, content }: Loose) => `${role}: ${content}`),
      ['user: one', 'assistant: hello', 'user: two', 'assistant: hello'],
    )
    assert.deepEqual(Object.keys(history.messages[0]), ['role', 'content', 'timestamp'])
    assert.deepEqual(
      [history.session_id, history.message_count, history.in_flight_execution_id],
      [session_id, 4, null],
    )
    const row = await world.runs.row(first.run.execution_id)
    assert.deepEqual([row.triggered_by, row.source_user_id, row.source_user_email], ['public', null, null])
    assert.notEqual(row.session_id, session_id, 'readers of the execution cannot impersonate the visitor')
    const { usage } = (await world.manage('GET', `/${id}`)).json
    assert.deepEqual([usage.total_messages, usage.unique_people], [2, 1])
    assert.ok(usage.last_used_at)
  })

  test('visitors cannot see each other; an unknown session id is a new visitor', async () => {
    await using world = await openPublicWorld(open)
    const { id, token } = await world.newLink()
    const other = await world.newLink()
    const annsTurn = await world.turn(token, { message: 'I am Ann' }, { runtime_session_id: 'ra' })
    const ann = annsTurn.json.session_id
    const unknownId = 'x'.repeat(43)
    const bob = await world.turn(token, { message: 'I am Bob', session_id: unknownId })
    assert.equal(bob.run.resume_session_id, null)
    assert.notEqual(bob.json.session_id, unknownId)
    assert.notEqual(bob.run.principal.id, annsTurn.run.principal.id)
    const again = await world.turn(token, { message: 'Ann again', session_id: ann })
    assert.deepEqual(again.run.principal, annsTurn.run.principal)
    assert.equal(bob.json.message_count, 2)
    const history = await world.history(token, `?session_id=${bob.json.session_id}`)
    assert.deepEqual(
      history.messages.map(({ content }: Loose) => content),
      ['I am Bob', 'hello'],
    )
    const empty = { messages: [], session_id: null, message_count: 0, in_flight_execution_id: null }
    assert.deepEqual(await world.history(token), empty)
    assert.deepEqual(await world.history(token, `?session_id=${unknownId}`), empty)
    assert.deepEqual(await world.history(other.token, `?session_id=${ann}`), empty, 'on another link')
    assert.equal((await world.manage('GET', `/${id}`)).json.usage.unique_people, 2)
    const sessions = await world.request(world.owner.key, 'GET', '/api/agents/scout/chat/sessions')
    assert.equal(sessions.json.session_count, 0)
  })

  test('reset deletes the conversation, and its id no longer works', async () => {
    await using world = await openPublicWorld(open)
    const { token } = await world.newLink()
    const path = (id: string) => `/session/${token}?session_id=${id}`
    assert.deepEqual((await world.visit('DELETE', `/session/${token}`)).json, {
      cleared: false,
      new_session_id: null,
    })
    const { session_id } = (await world.turn(token, { message: 'one' }, { runtime_session_id: 'r1' })).json
    const pending = world.visit('POST', `/chat/${token}`, { message: 'two', session_id })
    const run = await world.claim()
    const busy = await world.visit('DELETE', path(session_id))
    assert.deepEqual([busy.status, busy.json.error], [409, 'turn_in_progress'])
    const during = await world.history(token, `?session_id=${session_id}`)
    assert.equal(during.in_flight_execution_id, run.execution_id)
    await world.end(run)
    await pending
    const { json } = await world.visit('DELETE', path(session_id))
    assert.equal(json.cleared, true)
    assert.deepEqual((await world.history(token, `?session_id=${session_id}`)).messages, [])
    const after = await world.turn(token, { message: 'three', session_id: json.new_session_id })
    assert.deepEqual([after.run.resume_session_id, after.json.message_count], [null, 2])
    assert.equal(after.json.session_id, json.new_session_id)
  })

  test('409 turn_in_progress: of twenty concurrent messages in one conversation one is accepted', async () => {
    await using world = await openPublicWorld(open)
    const { token } = await world.newLink()
    const { session_id } = (await world.turn(token, { message: 'one' })).json
    const replies = await Promise.all(
      Array.from({ length: 20 }, () =>
        world.visit('POST', `/chat/${token}`, { message: 'now', session_id, async_mode: true }),
      ),
    )
    const accepted = replies.filter(({ status }) => status === 200)
    assert.equal(accepted.length, 1)
    const { execution_id } = accepted[0]?.json ?? assert.fail()
    assert.deepEqual(accepted[0]?.json, { status: 'accepted', execution_id, session_id })
    for (const { status, json } of replies.filter((reply) => reply !== accepted[0])) {
      assert.deepEqual([status, json.error, json.execution_id], [409, 'turn_in_progress', execution_id])
    }
  })

  test('429 daily_cap_reached until the UTC day ends, and exact for twenty concurrent messages', async () => {
    await using world = await openPublicWorld(open)
    const { id, token } = await world.newLink({ daily_message_limit: 2 })
    const say = (body: object = {}) =>
      world.visit('POST', `/chat/${token}`, { message: 'hi', async_mode: true, ...body })
    // Each message comes from another visitor; one visitor has one turn at a time.
    const replies = await Promise.all(Array.from({ length: 20 }, () => say()))
    assert.equal(replies.filter(({ status }) => status === 200).length, 2)
    const refused = replies.find(({ status }) => status !== 200)
    assert.deepEqual([refused?.status, refused?.json.error], [429, 'daily_cap_reached'])
    const seconds = refused?.json.retry_after_seconds
    assert.ok(seconds > 0 && seconds <= 86_400)
    assert.equal(refused?.headers['retry-after'], String(seconds))
    assert.equal((await world.visit('GET', `/link/${token}`)).status, 200)
    await world.clock.advance(seconds)
    assert.equal((await say()).status, 200)
    assert.equal((await world.manage('GET', `/${id}`)).json.usage.total_messages, 3)
  })

  test('a refused message leaves no trace: a stopped agent, a full queue, an invalid file', async () => {
    await using world = await openPublicWorld(open)
    const { id, token } = await world.newLink()
    const say = (body: object = {}) =>
      world.visit('POST', `/chat/${token}`, { message: 'hi', async_mode: true, ...body })
    const file = { name: 'a.png', mimetype: 'image/png', data_base64: 'bm8=' }
    assert.equal((await say({ files: [file] })).json.error, 'attachment_rejected')
    assert.equal((await say({ message: ' ' })).status, 422)
    assert.equal((await say({ message: 'x'.repeat(8001) })).status, 422)
    const agentContext = world.runs.agents.get(world.agentId) ?? assert.fail()
    world.runs.agents.set(world.agentId, { ...agentContext, status: 'stopped' })
    const stopped = await say()
    assert.deepEqual([stopped.status, stopped.json.error], [503, 'agent_not_running'])
    assert.equal(JSON.stringify(stopped.json).includes('scout'), false)
    world.runs.agents.set(world.agentId, agentContext)
    for (let at = 0; at < 5; at += 1) assert.equal((await say()).status, 200)
    const full = await say()
    assert.deepEqual([full.status, full.json.error], [429, 'queue_full'])
    assert.equal((await world.manage('GET', `/${id}`)).json.usage.total_messages, 5)
    assert.equal((await world.manage('GET', `/${id}`)).json.usage.unique_people, 5)
  })

  test('a message may have files, as in chat', async () => {
    await using world = await openPublicWorld(open)
    const { token } = await world.newLink()
    const files = [{ name: '../a.png', mimetype: 'image/png', data_base64: png }]
    const { run } = await world.turn(token, { message: 'look', files })
    const { attachments } = run as Loose
    assert.deepEqual(
      attachments.map(({ name, mimetype }: Loose) => [name, mimetype]),
      [['a.png', 'image/png']],
    )
  })

  test("a failed turn hides the fault's message; a stopped turn has no response", async () => {
    await using world = await openPublicWorld(open)
    const { token } = await world.newLink()
    const fault = { status: 'failed', error: 'ENOENT /home/developer/.env', error_code: 'agent_error' }
    const failed = await world.turn(token, { message: 'hi' }, fault)
    assert.deepEqual(
      [failed.status, failed.json.error, failed.json.error_code, failed.json.execution_id],
      [503, 'run_failed', 'agent_error', failed.run.execution_id],
    )
    const { json: status } = await world.visit(
      'GET',
      `/executions/${token}/${failed.run.execution_id}/status`,
    )
    assert.deepEqual([status.status, status.response], ['failed', null])
    assert.equal(JSON.stringify([failed.json, status]).includes('.env'), false)
    const timedOut = await world.turn(token, { message: 'hi' }, { ...fault, error_code: 'timeout' })
    assert.deepEqual([timedOut.status, timedOut.json.error], [504, 'run_timeout'])
    const pending = world.visit('POST', `/chat/${token}`, { message: 'hi' })
    const { execution_id } = await world.claim()
    const stop = await world.visit('POST', `/executions/${token}/${execution_id}/terminate`)
    assert.deepEqual([stop.status, stop.json.execution_id], [200, execution_id])
    const stopped = await pending
    assert.deepEqual([stopped.status, stopped.json.response, stopped.json.usage], [200, null, undefined])
    assert.match((await world.runs.row(execution_id)).error ?? '', /a visitor of a public link/)
  })

  test('429 rate_limited after 30 messages per minute from one address', async () => {
    await using world = await openPublicWorld(open)
    const { token } = await world.newLink()
    const say = () => world.visit('POST', `/chat/${token}`, { message: '' })
    const wrong = 'x'.repeat(43)
    for (let at = 0; at < 30; at += 1) {
      assert.equal((await world.visit('POST', `/chat/${wrong}`, { message: 'hi' })).status, 404)
    }
    const refused = await world.visit('POST', `/chat/${token}`, { message: 'hi' })
    assert.deepEqual([refused.status, refused.json.error], [429, 'rate_limited'])
    assert.equal((await say()).status, 422, 'an invalid body is reported first')
    for (let at = 0; at < 60; at += 1) await world.visit('GET', `/link/${token}`)
    assert.equal((await world.visit('GET', `/history/${token}`)).json.error, 'rate_limited')
    await world.clock.advance(61)
    assert.equal((await world.visit('GET', `/link/${token}`)).status, 200)
  })

  test('a message without an open link is refused and counted before its body is read', async () => {
    await using world = await openPublicWorld(open)
    const { token } = await world.newLink()
    const invalid = { message: 1 }
    assert.equal((await world.visit('POST', `/chat/${token}`, invalid)).status, 422)
    const wrong = () => world.visit('POST', `/chat/${'x'.repeat(43)}`, invalid)
    for (let at = 0; at < 30; at += 1) assert.equal((await wrong()).json.error, 'link_not_found')
    assert.equal((await wrong()).json.error, 'rate_limited')
    world.flag.isOn = false
    assert.equal((await world.visit('POST', `/chat/${token}`, invalid)).json.error, 'feature_disabled')
  })

  test('the addresses of an IPv6 network share the limits of one address', async () => {
    await using world = await openPublicWorld(open)
    const wrong = 'x'.repeat(43)
    const from = (at: number) => ({ 'x-forwarded-for': `2001:db8::${at}` })
    const say = (at: number) => world.visit('POST', `/chat/${wrong}`, { message: 'hi' }, from(at))
    const look = (at: number) => world.visit('GET', `/link/${wrong}`, undefined, from(at))
    for (let at = 0; at < 30; at += 1) assert.equal((await say(at)).status, 404)
    assert.equal((await say(99)).json.error, 'rate_limited')
    for (let at = 0; at < 60; at += 1) assert.equal((await look(at)).status, 404)
    assert.equal((await look(99)).json.error, 'rate_limited')
  })
})
