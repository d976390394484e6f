import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../agents/test/world.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { type Loose, openWorkspaceWorld } from './test/world.ts'

const sam = 'sam@example.org'

forEachDialect((_name, open) => {
  test('a code opens a session only for an address with a shared agent', async () => {
    await using world = await openWorkspaceWorld(open)
    const stranger = await world.request('', 'POST', '/auth/request', { email: 'x@example.org' })
    assert.equal(stranger.status, 200)
    await world.share(sam)
    const token = await world.signIn('sam@example.org')
    assert.match(token, /^[A-Za-z0-9_-]{43}$/)
    assert.deepEqual(
      world.mail.sent.map(({ to }) => to),
      [sam],
    )
    const { json: roster } = await world.request(token, 'GET', '/my-agents')
    assert.deepEqual(
      [roster.client_email, roster.agents.map(({ name, owned, state }: Loose) => [name, owned, state])],
      [sam, [['scout', false, 'unreachable']]],
    )
    const wrong = await world.request('', 'POST', '/auth/verify', { email: sam, code: '000000' })
    assert.deepEqual([wrong.status, wrong.json.error], [401, 'invalid_code'])
    assert.equal((await world.request(token, 'POST', '/auth/logout')).json.status, 'logged_out')
    const after = await world.request(token, 'GET', '/my-agents')
    assert.deepEqual([after.status, after.json.error], [401, 'session_expired'])
  })

  test('an unknown Workspace session is refused before the body is read, and the body of a code is small', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    const send = (as: string) => world.request(as, 'POST', '/agents/scout/chat', { message: 1 })
    assert.equal((await send(token)).json.error, 'validation_error')
    assert.equal((await send('x'.repeat(43))).json.error, 'session_expired')
    const star = await world.request('x'.repeat(43), 'PUT', '/chat-state/s1/star', { starred: 1 })
    assert.equal(star.json.error, 'session_expired')
    const body = { email: sam, code: '000000', more: 'x'.repeat(20_000) }
    for (const path of ['/auth/request', '/auth/verify']) {
      assert.equal((await world.request('', 'POST', path, body)).json.error, 'body_too_large', path)
    }
  })

  test('the history shows pictures to the person of the conversation only', async () => {
    await using world = await openWorkspaceWorld(open)
    for (const email of [sam, 'kim@example.org']) await world.share(email)
    const [token, other] = [await world.signIn(sam), await world.signIn('kim@example.org')]
    const files = [{ name: 'dot.gif', mimetype: 'image/gif', data_base64: 'R0lGODlhAQABAAAAACw=' }]
    const { json: reply } = await world.turn(token, { message: 'look', files })
    const { messages } = await world.history(token, `?session_id=${reply.session_id}`)
    const path = `/agents/scout/sessions/${reply.session_id}/pictures/${messages[0].files[0].picture_id}`
    const picture = await world.request(token, 'GET', path)
    assert.deepEqual([picture.status, picture.headers['content-type']], [200, 'image/gif'])
    const { json: refused } = await world.request(other, 'GET', path)
    assert.equal(refused.error, 'session_not_found')
    const { json: unknown } = await world.request(token, 'GET', `${path}x`)
    assert.equal(unknown.error, 'file_not_found')
  })

  test('a ready agent offers its playbooks, cached for a minute; a failing agent offers none', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    const playbooks = async () => (await world.request(token, 'GET', '/my-agents')).json.agents[0].playbooks
    world.starters.answer = () => [{ title: 'Report', description: null, starter_prompt: '/report' }]
    assert.deepEqual([await playbooks(), world.starters.calls], [[], 0], 'unreachable')
    world.chatLink.link(world.agentId, {})
    assert.deepEqual(await playbooks(), [{ title: 'Report', description: null, starter_prompt: '/report' }])
    await playbooks()
    assert.equal(world.starters.calls, 1)
    world.starters.answer = () => assert.fail('the agent is busy')
    await world.clock.advance(61)
    assert.deepEqual(await playbooks(), [])
  })

  test("the roster shows the description in the agent's workspace", async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    const description = async () =>
      (await world.request(token, 'GET', '/my-agents')).json.agents[0].description
    assert.equal(await description(), null, 'unreachable')
    const template_yaml = 'name: scout\ndisplay_name: Scout\ndescription: Knows the birds.\n'
    const info = { template_yaml, metrics_json: null, runtime_version: null, workspace_initialized: true }
    world.agentLink.link(world.agentId, { info: () => info })
    await world.clock.advance(61)
    assert.equal(await description(), 'Knows the birds.')
  })

  test('401 without a credential or with an unknown token, 403 with an API key; a Workspace token works only in the Workspace', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    assert.equal((await world.request('x'.repeat(43), 'GET', '/my-agents')).json.error, 'session_expired')
    assert.equal((await world.request('nonsense', 'GET', '/my-agents')).status, 401)
    const key = await world.request(world.owner.key, 'GET', '/my-agents')
    assert.deepEqual([key.status, key.json.error], [403, 'human_only'])
    assert.equal((await world.request(world.agentId, 'GET', '/my-agents')).status, 401)
    const agents = await world.request(token, 'GET', '/../../agents')
    assert.equal(agents.status, 401)
  })

  test('a session ends after 7 idle days, and after 30 days in any case', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const idle = await world.signIn(sam)
    await world.clock.advance(7 * 86_400 + 1)
    assert.equal((await world.request(idle, 'GET', '/my-agents')).status, 401)
    const used = await world.signIn(sam)
    for (let day = 0; day < 5; day += 1) {
      await world.clock.advance(6 * 86_400 - 60)
      if (day < 4) assert.equal((await world.request(used, 'GET', '/my-agents')).status, 200)
    }
    await world.clock.advance(600)
    assert.equal((await world.request(used, 'GET', '/my-agents')).status, 401)
  })

  test('an exchange requires a portal_delegate key and the entitlement', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const admin = await world.person('admin', 'root@example.org')
    const { key } = await world.identity.keys.create(admin.session, { name: 'd', scope: 'portal_delegate' })
    const exchange = (by: string, email = sam) => world.request(by, 'POST', '/auth/exchange', { email })
    const reply = await exchange(key)
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    assert.equal((await world.request(reply.json.token, 'GET', '/my-agents')).json.agents.length, 1)
    assert.equal((await exchange(key, 'nobody@example.org')).json.error, 'agent_access_denied')
    assert.equal((await exchange(admin.key)).json.error, 'scope_not_allowed')
    assert.equal((await world.request(key, 'GET', '/my-agents')).json.error, 'scope_not_allowed')

    await using other = await openWorkspaceWorld(open, { isExchangeEntitled: false })
    await other.share(sam)
    const otherAdmin = await other.person('admin', 'root@example.org')
    const second = await other.identity.keys.create(otherAdmin.session, {
      name: 'd',
      scope: 'portal_delegate',
    })
    const refused = await other.request(second.key, 'POST', '/auth/exchange', { email: sam })
    assert.deepEqual([refused.status, refused.json.error], [403, 'entitlement_required'])
  })

  test('the agent gets the open canvas as a note; the conversation stores only the message', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    const body = { message: 'what is this?', open_canvas_id: 'q3.plan' }
    const { run } = await world.turn(token, body, { runtime_session_id: 'r1' })
    assert.match(run.message, /^\(The person has your canvas "q3\.plan" open[^\n]*\n\nwhat is this\?$/)
    const { messages } = await world.history(token)
    assert.equal(messages[0].content, 'what is this?')
    assert.equal((await world.turn(token, { message: 'and now?' })).run.message, 'and now?')
    const bad = { message: 'x', open_canvas_id: 'a"\nb' }
    const refused = await world.request(token, 'POST', '/agents/scout/chat', bad)
    assert.deepEqual([refused.status, refused.json.detail[0].loc], [422, ['body', 'open_canvas_id']])
  })

  test('a turn in Main stores question and answer; every sign-in of one person opens the same Main', async () => {
    await using world = await openWorkspaceWorld(open)
    const account = await world.person('user', sam)
    await world.share(sam)
    const token = await world.signIn(sam)
    const { status, json, run, headers } = await world.turn(token, { message: 'hi' })
    assert.equal(status, 200, JSON.stringify(json))
    assert.deepEqual([json.response, json.execution_id], ['hello', run.execution_id])
    assert.equal(headers['x-execution-id'], run.execution_id)
    assert.equal((await world.runs.row(run.execution_id)).triggered_by, 'workspace')
    const own = await world.session(account.id)
    const history = await world.history(own)
    assert.deepEqual(
      history.messages.map(({ role, content, source }: Loose) => [role, content, source]),
      [
        ['user', 'hi', 'text'],
        ['assistant', 'hello', 'text'],
      ],
    )
    assert.equal(history.messages[1].id, json.message_id)
    assert.deepEqual([history.session_id, history.last_turn_outcome], [json.session_id, null])
  })

  test('409 turn_in_progress: of twenty concurrent messages in one conversation one is accepted', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    const replies = Array.from({ length: 20 }, (_, n) =>
      world.request(token, 'POST', '/agents/scout/chat', { message: `no. ${n}` }),
    )
    await world.waiting()
    const run = await world.claim()
    // A request that arrives after the turn would start the next one.
    let answered = 0
    for (const reply of replies) void reply.then(() => (answered += 1))
    await until(() => answered === 19, 'all others were refused')
    await world.finish(run)
    const all = await Promise.all(replies)
    assert.deepEqual(all.filter(({ status }) => status === 200).length, 1)
    for (const { status, json } of all) {
      if (status !== 200)
        assert.deepEqual([status, json.error, json.execution_id], [409, 'turn_in_progress', run.execution_id])
    }
    // Another conversation is not blocked, once the rate limit allows more messages.
    await world.clock.advance(61)
    const parallel = await world.turn(token, { message: 'beside', new_thread: true })
    assert.equal(parallel.status, 200)
    assert.notEqual(parallel.json.session_id, (await world.history(token)).session_id)
  })

  test('a failed turn reports the reason; a repeated key returns the first reply', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    const failed = await world.turn(
      token,
      { message: 'hi' },
      { status: 'failed', error: 'x', error_code: 'rate_limited' },
    )
    assert.deepEqual([failed.status, failed.json.error], [429, 'provider_rate_limited'])
    const { last_turn_outcome } = await world.history(token)
    assert.deepEqual([last_turn_outcome.category, last_turn_outcome.retryable], ['rate_limited', true])
    const key = { 'idempotency-key': 'k1' }
    const first = await world.turn(token, { message: 'again' }, {}, key)
    const second = await world.request(token, 'POST', '/agents/scout/chat', { message: 'again' }, key)
    assert.deepEqual(second.json, first.json)
    assert.equal(second.headers['x-idempotent-replay'], 'true')
  })

  test('202 with the ids when the client prefers not to wait; the turn can be streamed and stopped', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const [token, other] = [await world.signIn(sam), await world.session(world.owner.id)]
    const reply = world.request(token, 'POST', '/agents/scout/chat', { message: 'hi' }, { prefer: 'wait=1' })
    await world.clock.waitingFor(1)
    await world.clock.advance(1)
    const { status, json } = await reply
    assert.equal(status, 202, JSON.stringify(json))
    const stop = (by: string) =>
      world.request(by, 'POST', `/agents/scout/executions/${json.execution_id}/terminate`)
    assert.equal((await stop(other)).json.error, 'execution_not_found')
    assert.equal((await stop(token)).json.status, 'cancelled_while_queued')
    const stream = await world.request(token, 'GET', `/agents/scout/executions/${json.execution_id}/stream`)
    assert.match(stream.bytes.toString(), /"stream_end","status":"cancelled"/)
  })

  test('the stream sends events, or JSON lines when Accept names them', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    for (const accept of ['*/*', 'application/x-ndjson']) {
      const reply = world.request(token, 'POST', '/agents/scout/chat/stream', { message: 'hi' }, { accept })
      await world.waiting()
      await world.finish(await world.claim())
      const { bytes, headers } = await reply
      const isLines = accept !== '*/*'
      assert.equal(headers['content-type'], isLines ? 'application/x-ndjson' : 'text/event-stream')
      assert.match(bytes.toString(), /"type":"done","status":"success","response":"hello"/)
    }
  })

  test('conversations can be renamed, starred, marked as read and searched; Main can be reset', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    const { json: conversation } = await world.request(token, 'POST', '/agents/scout/sessions', {
      title: 'Plans',
    })
    const turn = await world.turn(token, { message: 'Where is the Harbour?', session_id: conversation.id })
    assert.equal(turn.status, 200)
    const path = `/agents/scout/sessions/${conversation.id}`
    assert.equal((await world.request(token, 'PATCH', path, { title: 'Harbour' })).json.title, 'Harbour')
    assert.equal((await world.request(token, 'PATCH', path, { title: 'two\nlines' })).status, 422)
    const { json: list } = await world.request(token, 'GET', '/agents/scout/sessions')
    assert.deepEqual(
      list.sessions.map(({ title, is_main, unread }: Loose) => [title, is_main, unread]),
      [
        [null, true, 0],
        ['Harbour', false, 1],
      ],
    )
    const main = list.sessions[0].id
    assert.equal(
      (await world.request(token, 'PATCH', `/agents/scout/sessions/${main}`, { title: 'x' })).status,
      409,
    )
    assert.equal((await world.request(token, 'GET', '/my-agents')).json.agents[0].unread, 1)
    assert.deepEqual((await world.request(token, 'POST', `/chat-state/${conversation.id}/read`)).json, {
      id: conversation.id,
      starred: false,
      unread: 0,
    })
    assert.equal(
      (await world.request(token, 'PUT', `/chat-state/${conversation.id}/star`)).json.starred,
      true,
    )
    const { json: results } = await world.request(token, 'GET', '/search?q=harbour')
    assert.deepEqual(
      results.results.map(({ session_id, snippet }: Loose) => [session_id, snippet]),
      [[conversation.id, 'Where is the Harbour?']],
    )
    assert.equal((await world.request(token, 'GET', '/search?q=100%25')).json.results.length, 0)

    const reset = () => world.request(token, 'POST', '/agents/scout/sessions/main/reset')
    assert.deepEqual((await reset()).json, { main_session_id: main, archived_session_id: null })
    await world.turn(token, { message: 'hi' })
    const { json: resetReply } = await reset()
    assert.equal(resetReply.archived_session_id, main)
    assert.deepEqual((await world.history(token)).messages, [])
    const old = await world.request(token, 'POST', '/agents/scout/chat', { message: 'x', session_id: main })
    assert.deepEqual([old.status, old.json.error], [409, 'conflict'])
    assert.equal((await world.request(token, 'GET', '/sessions')).json.sessions.length, 3)
  })

  test('only the person of the conversation can rate an answer', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    await world.share('kim@example.org')
    const [token, other] = [await world.signIn(sam), await world.signIn('kim@example.org')]
    const { json } = await world.turn(token, { message: 'hi' })
    const rate = (by: string, rating: string) =>
      world.request(by, 'POST', '/agents/scout/ratings', {
        target_kind: 'message',
        target_id: json.message_id,
        rating,
      })
    assert.deepEqual((await rate(token, 'up')).json, { target_id: json.message_id, rating: 'up' })
    assert.equal((await world.history(token)).messages[1].my_rating, 'up')
    assert.equal((await rate(other, 'down')).status, 404)
    await rate(token, 'none')
    assert.equal((await world.history(token)).messages[1].my_rating, null)
  })

  test('conversations of others are 404; the end of a share removes access to everything', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    await world.share('kim@example.org')
    const [token, other] = [await world.signIn(sam), await world.signIn('kim@example.org')]
    const { json } = await world.turn(token, { message: 'hi' })
    assert.equal(
      (await world.request(other, 'GET', `/agents/scout/history?session_id=${json.session_id}`)).status,
      404,
    )
    assert.equal((await world.request(other, 'POST', `/chat-state/${json.session_id}/read`)).status, 404)
    assert.equal((await world.request(token, 'GET', '/agents/other/history')).json.error, 'agent_not_found')

    const stream = world.request(token, 'POST', '/agents/scout/chat/stream', { message: 'long' })
    await world.waiting()
    await world.claim()
    assert.equal((await world.unshare(sam)).status, 200)
    world.accessRevocation.recheck({ id: world.agentId, name: 'scout' })
    assert.doesNotMatch((await stream).bytes.toString(), /"done"/)
    assert.equal((await world.request(token, 'GET', '/agents/scout/history')).status, 404)
    assert.deepEqual((await world.request(token, 'GET', '/my-agents')).json.agents, [])
    assert.deepEqual((await world.request(token, 'GET', '/sessions')).json.sessions, [])
  })

  test('the owner lists clients and logs them out; admins block and unblock', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    await world.turn(token, { message: 'hi' })
    const owner = await world.session(world.owner.id)
    const admin = await world.session((await world.person('admin', 'root@example.org')).id)
    const { json: clients } = await world.request(owner, 'GET', '/agents/scout/clients')
    assert.deepEqual(
      clients.map(({ email, message_count, blocked }: Loose) => [email, message_count, blocked]),
      [[sam, 2, false]],
    )
    const act = (by: string, action: string, email = sam) =>
      world.request(by, 'POST', `/agents/scout/clients/${email}/${action}`)
    assert.equal((await world.request(token, 'GET', '/agents/scout/clients')).json.error, 'owner_required')
    assert.equal((await act(owner, 'block')).json.error, 'admin_required')
    assert.equal((await act(admin, 'block', 'x@example.org')).status, 404)
    assert.equal((await act(admin, 'block')).json.blocked, true)
    assert.deepEqual((await world.request(token, 'GET', '/my-agents')).json.agents, [])
    assert.equal((await world.deliver()).error, 'recipient_unreachable')
    assert.equal((await act(admin, 'unblock')).json.blocked, false)
    assert.equal((await world.request(token, 'GET', '/my-agents')).json.agents.length, 1)
    assert.equal((await act(owner, 'logout')).status, 200)
    assert.equal((await world.request(token, 'GET', '/my-agents')).status, 401)
  })

  test('deleting an agent deletes what people have with it', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    const { json } = await world.turn(token, { message: 'hi' })
    const target = { target_kind: 'message', target_id: json.message_id, rating: 'up', comment: 'good' }
    assert.equal((await world.request(token, 'POST', '/agents/scout/ratings', target)).status, 200)
    await world.deliver()
    assert.equal((await world.platformRequest(world.owner.key, 'DELETE', '/api/agents/scout')).status, 200)
    const tables = [
      'chat_sessions',
      'chat_messages',
      'workspace_chat_states',
      'workspace_rating_comments',
      'workspace_deliveries',
    ] as const
    for (const table of tables) {
      const rows = await world.db
        .withTables<Record<(typeof tables)[number], { rowid: string }>>()
        .selectFrom(table)
        .selectAll()
        .execute()
      assert.deepEqual(rows, [], table)
    }
  })

  test('429 above twenty messages per minute with one agent', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    const statuses: number[] = []
    for (let n = 0; n < 21; n += 1) {
      const reply = await world.request(token, 'POST', '/agents/scout/chat', {
        message: 'x',
        session_id: 'unknown',
      })
      statuses.push(reply.status)
    }
    assert.deepEqual([statuses.slice(0, 20).every((status) => status === 404), statuses[20]], [true, 429])
  })
})
