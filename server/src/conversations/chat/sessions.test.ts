import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json, type Loose, startChatPlatform } from '../../test/chat-platform.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { linked, resultOf } from '../../test/run-platform.ts'

test('conversations are private: 404 for others including the owner; admins read but cannot write', async () => {
  const { call, turn } = await startChatPlatform()
  const { run } = await turn('bob', '/chat', { message: 'between us' })
  const id = run.session_id
  for (const who of ['ann', 'agent', 'self']) {
    for (const [method, path, sent] of [
      ['GET', `/chat/sessions/${id}`],
      ['GET', `/sessions/${id}`],
      ['POST', `/chat/sessions/${id}/close`],
      ['POST', `/sessions/${id}/reset`],
      ['PATCH', `/sessions/${id}`, { title: 'taken' }],
      ['DELETE', `/sessions/${id}`],
    ] as const) {
      const { status, json: body } = await call(who, method, path, sent)
      assert.deepEqual([status, body.error], [404, 'session_not_found'], `${who} ${method} ${path}`)
    }
    assert.equal((await call(who, 'POST', `/sessions/${id}/message`, { message: 'x' })).status, 404)
    assert.doesNotMatch((await call(who, 'GET', '/chat/history/persistent')).text, /between us/)
    assert.equal((await call(who, 'GET', '/chat/sessions')).json.session_count, 0)
  }
  assert.match((await call('admin', 'GET', `/chat/sessions/${id}`)).text, /between us/)
  assert.equal((await call('admin', 'GET', '/chat/sessions?all=true')).json.session_count, 1)
  assert.equal((await call('admin', 'POST', `/sessions/${id}/message`, { message: 'x' })).status, 404)
  assert.equal((await call('bob', 'GET', '/chat/sessions?all=true')).json.error, 'admin_required')
})

test('agents and connectors have their own conversations, separate from their owner’s', async () => {
  const { turn, call, platform } = await startChatPlatform()
  const own = await turn('ann', '/chat', { message: 'of the owner' })
  const agent = await turn('agent', '/chat', { message: 'of the agent' })
  const connector = await turn('connector', '/chat', { message: 'of the connector' })
  assert.equal(new Set([own, agent, connector].map(({ run }) => run.session_id)).size, 3)
  const row = await platform.row(agent.run.execution_id)
  assert.deepEqual([row.triggered_by, row.source_agent_name, row.chain_depth], ['agent', 'name-of-a2', 1])
  assert.equal((await call('connector', 'GET', '/chat/sessions')).json.error, 'scope_not_allowed')
  assert.equal(
    (await call('connector', 'GET', `/executions/${connector.run.execution_id}`)).json.response,
    'hello',
  )
  assert.equal((await call('connector', 'GET', `/executions/${own.run.execution_id}`)).status, 404)
})

test('a conversation is renamed by its person, also when closed; a name is one line', async () => {
  const { call, turn } = await startChatPlatform()
  const { run } = await turn('bob', '/chat', { message: 'how it began' })
  const path = `/sessions/${run.session_id}`
  const renamed = await call('bob', 'PATCH', path, { title: ' Release notes ' })
  assert.deepEqual([renamed.status, renamed.json.title], [200, 'Release notes'])
  for (const title of ['', '   ', 'two\nlines', 'x'.repeat(101), null, 7]) {
    const { status, json: body } = await call('bob', 'PATCH', path, { title })
    assert.deepEqual([status, body.detail?.[0]?.loc], [422, ['body', 'title']], JSON.stringify(title))
  }
  assert.equal((await call('admin', 'PATCH', path, { title: 'taken' })).status, 404)
  await turn('bob', '/chat', { message: 'a later message keeps the name' })
  assert.equal((await call('bob', 'POST', `/chat${path}/close`)).status, 200)
  assert.equal((await call('bob', 'PATCH', path, { title: 'Archive' })).json.title, 'Archive')
  assert.deepEqual(
    (await call('bob', 'GET', '/sessions')).json.map(({ title }: Loose) => title),
    ['Archive'],
  )
})

test('conversations are found by a text in their name or messages, only by their person', async () => {
  const { call, turn } = await startChatPlatform()
  const notes = await turn('bob', '/chat', { message: 'Draft the NOTES' })
  const { json: other } = await call('bob', 'POST', '/sessions', { title: '100% done_' })
  const found = async (search: string, who: 'ann' | 'bob' = 'bob') => {
    const reply = await call(who, 'GET', `/sessions?search=${encodeURIComponent(search)}`)
    assert.equal(reply.status, 200)
    return reply.json.map(({ id }: Loose) => id)
  }
  assert.deepEqual(await found('the notes'), [notes.run.session_id])
  assert.deepEqual(await found('0% DONE_'), [other.id])
  assert.deepEqual(await found('0_'), [])
  assert.deepEqual(await found("' or 1=1 --"), [])
  assert.equal((await found(' ')).length, 2)
  assert.deepEqual(await found('the notes', 'ann'), [])
})

test('sessions can be created, made current, listed, read in pages and closed', async () => {
  const { call, turn } = await startChatPlatform()
  const first = await turn('ann', '/chat', { message: 'one' })
  const created = await call('ann', 'POST', '/session', { title: ' Other ', make_current: true })
  assert.equal(created.status, 201)
  assert.deepEqual(
    [created.json.title, created.json.is_current, created.json.status],
    ['Other', true, 'active'],
  )
  const second = await turn('ann', '/chat', { message: 'two' })
  assert.equal(second.run.session_id, created.json.id)
  assert.notEqual(second.run.session_id, first.run.session_id)
  await turn('ann', '/chat', { message: 'three' })

  const list = (await call('ann', 'GET', '/chat/sessions')).json
  assert.deepEqual([list.agent_name, list.session_count, list.sessions.length], ['scout', 2, 2])
  assert.equal((await call('ann', 'GET', '/sessions?status=closed')).json.length, 0)

  const { messages, message_count } = (await call('ann', 'GET', `/chat/sessions/${created.json.id}?limit=2`))
    .json
  assert.equal(message_count, 4)
  assert.deepEqual(
    messages.map(({ content }: Loose) => content),
    ['three', 'hello'],
  )
  const older = await call('ann', 'GET', `/chat/sessions/${created.json.id}?before=${messages[0].id}`)
  assert.deepEqual(
    older.json.messages.map(({ content }: Loose) => content),
    ['two', 'hello'],
  )
  // A time without an offset is UTC, whatever the server's time zone.
  for (const [time, found] of [
    ['2000-01-01T00:00:00', 0],
    ['9999-12-31T23:59:59.999Z', 4],
  ] as const) {
    const page = await call('ann', 'GET', `/chat/sessions/${created.json.id}?before=${time}`)
    assert.equal(page.json.messages.length, found)
  }
  // V8 parses some of these as dates.
  for (const nonsense of ['nonsense', '-1', '1.5', "' or 1=1", '2026-02-30T00:00:00Z']) {
    const before = encodeURIComponent(nonsense)
    const refused = await call('ann', 'GET', `/chat/sessions/${created.json.id}?before=${before}`)
    assert.deepEqual([refused.status, refused.json.detail[0].loc], [422, ['query', 'before']], nonsense)
  }

  const path = `/chat/sessions/${created.json.id}/close`
  assert.deepEqual((await call('ann', 'POST', path)).json, { status: 'closed', session_id: created.json.id })
  assert.equal((await call('ann', 'POST', path)).status, 200)
  const conflict = await call('ann', 'POST', `/sessions/${created.json.id}/message`, { message: 'x' })
  assert.deepEqual([conflict.status, conflict.json.error], [409, 'conflict'])
  const next = await turn('ann', '/chat', { message: 'four' })
  assert.ok(![created.json.id, first.run.session_id].includes(next.run.session_id))
})

forEachDialect((_, openDb) => {
  test('queued turns are listed as question and answer, in pages too', async () => {
    const { call, clock, woken, work } = await startChatPlatform(openDb)
    const replies: Promise<unknown>[] = []
    for (const message of ['q1', 'q2', 'q3', 'q4']) {
      const wake = woken()
      replies.push(call('ann', 'POST', '/chat', { message }))
      await wake
      await clock.advance(1)
    }
    const [session] = (await call('ann', 'GET', '/sessions')).json
    const path = `/chat/sessions/${session.id}`
    const contents = (messages: Loose[]) => messages.map(({ content }) => content).join(' ')
    const histories = async () => [
      contents((await call('ann', 'GET', '/chat/history')).json),
      contents((await call('ann', 'GET', '/chat/history/persistent')).json.messages),
      contents((await call('ann', 'GET', `/sessions/${session.id}`)).json.messages),
      contents((await call('ann', 'GET', path)).json.messages),
    ]
    assert.deepEqual(new Set(await histories()), new Set(['q1 q2 q3 q4']))
    await work({ response: 'a1' })
    assert.deepEqual(new Set(await histories()), new Set(['q1 a1 q2 q3 q4']))
    const second = await work({ response: 'a2' })
    assert.match(second.message, /q1.*a1.*q2/s, 'a runtime without a session gets the previous answer')
    assert.doesNotMatch(second.message, /q3/)
    const page = (query: string) =>
      call('ann', 'GET', `${path}?${query}`).then(({ json: { messages } }) => messages)
    const [newest] = await page('limit=3')
    assert.equal(newest.content, 'a2')
    // An answer that arrives between two pages moves neither of them.
    await work({ response: 'a3' })
    assert.equal(contents(await page(`before=${newest.id}`)), 'q1 a1 q2')
    await work({ response: 'a4' })
    await Promise.all(replies)
    assert.deepEqual(new Set(await histories()), new Set(['q1 a1 q2 a2 q3 a3 q4 a4']))

    const pages: string[] = []
    for (let before = ''; ; ) {
      const [message] = await page(`limit=1${before}`)
      if (!message) break
      pages.unshift(message.content)
      before = `&before=${message.id}`
    }
    assert.equal(pages.join(' '), 'q1 a1 q2 a2 q3 a3 q4 a4')
    const [, , third] = (await page('limit=8')).filter(({ role }: Loose) => role === 'user')
    assert.equal(contents(await page(`before=${third.timestamp}`)), 'q1 a1 q2 a2')
  })

  test('across conversations, turns are ordered by the time of their question', async () => {
    const { call, clock, turn, woken, work, messages } = await startChatPlatform(openDb)
    const wake = woken()
    const slow = call('ann', 'POST', '/chat', { message: 'slow' })
    await wake
    await clock.advance(1)
    await call('ann', 'POST', '/sessions', { make_current: true })
    const other = woken()
    const quick = call('ann', 'POST', '/chat', { message: 'quick' })
    await other
    await work({ response: 'slow answer' })
    await clock.advance(1)
    await work({ response: 'quick answer' })
    await Promise.all([slow, quick])
    await turn('ann', '/chat', { message: 'last' }, { response: 'end' })
    assert.deepEqual(
      (await messages()).map(({ content }) => content),
      ['slow', 'slow answer', 'quick', 'quick answer', 'last', 'end'],
    )
  })
})

test('history covers the current conversation; deleting it closes the conversation', async () => {
  const { call, turn } = await startChatPlatform()
  assert.deepEqual((await call('ann', 'GET', '/chat/history')).json, [])
  assert.equal((await call('ann', 'DELETE', '/chat/history')).json.session_id, null)
  const { run } = await turn('ann', '/chat', { message: 'one' })
  const history = (await call('ann', 'GET', '/chat/history')).json
  assert.deepEqual(
    history.map(({ role, content }: Loose) => [role, content]),
    [
      ['user', 'one'],
      ['assistant', 'hello'],
    ],
  )
  const reset = (await call('ann', 'DELETE', '/chat/history')).json
  assert.deepEqual([reset.status, reset.session_id], ['reset', run.session_id])
  assert.deepEqual((await call('ann', 'GET', '/chat/history')).json, [])
  assert.equal((await call('ann', 'GET', '/chat/history/persistent')).json.message_count, 2)
})

test("reset clears the runtime's session and context, keeps the messages and drops the live process", async () => {
  const { call, turn, link } = await startChatPlatform()
  const { run } = await turn('ann', '/chat', { message: 'one' }, { runtime_session_id: 'r1' })
  link.link('a1', { 'session.drop': () => ({ ok: true }) })
  const reset = await call('ann', 'POST', `/sessions/${run.session_id}/reset`)
  assert.deepEqual([reset.json.runtime_session_id, reset.json.message_count], [null, 2])
  assert.ok(link.calls.some(({ t }) => t === 'session.drop'))
  const next = await turn('ann', '/chat', { message: 'two' })
  assert.deepEqual([next.run.resume_session_id, next.run.message], [null, 'two'])
})

test('during a turn the session reports it and cannot be reset or deleted', async () => {
  const { call, woken, work } = await startChatPlatform()
  const wake = woken()
  const reply = call('ann', 'POST', '/chat', { message: 'one' })
  await wake
  const [session] = (await call('ann', 'GET', '/sessions')).json
  const [execution] = (await call('ann', 'GET', '/executions')).json
  assert.deepEqual([session.turn_in_progress, session.in_flight_execution_id], [true, execution.id])
  for (const [method, path] of [
    ['POST', `/sessions/${session.id}/reset`],
    ['DELETE', `/sessions/${session.id}`],
  ] as const) {
    const { status, json: body } = await call('ann', method, path)
    assert.deepEqual([status, body.error, body.execution_id], [409, 'turn_in_progress', execution.id])
  }
  await work()
  await reply
  assert.equal((await call('ann', 'DELETE', `/sessions/${session.id}`)).status, 200)
  assert.equal((await call('ann', 'GET', `/sessions/${session.id}`)).status, 404)
})

test('five concurrent first messages share one conversation, and its turns are serial', async () => {
  const { call, platform } = await startChatPlatform()
  const replies = Array.from({ length: 5 }, (_, index) =>
    call('ann', 'POST', '/chat', { message: `${index}` }, json),
  )
  for (let number = 0; number < 5; ) {
    const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 9 })
    assert.ok(runs.length <= 1, 'turns of one conversation are serial')
    for (const run of runs) {
      await platform.dispatch.handlers.result(linked, resultOf(run))
      number += 1
    }
    if (runs.length === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const done = await Promise.all(replies)
  assert.equal(new Set(done.map(({ json: body }) => body.session.id)).size, 1)
  assert.equal((await call('ann', 'GET', '/sessions')).json[0].message_count, 10)
})

test('only the person of the conversation gets the event of a ready reply', async () => {
  const { turn, platform } = await startChatPlatform()
  const { run } = await turn('ann', '/chat', { message: 'hi' })
  await platform.events.relaying.pass()
  const readyEvent = (await platform.events.after(0, 100)).find(({ type }) => type === 'chat.response_ready')
  assert.equal(readyEvent?.visible_to_user_id, 'u1')
  assert.deepEqual(readyEvent?.fields, {
    execution_id: run.execution_id,
    session_id: run.session_id,
    status: 'success',
  })
  const created = (await platform.events.after(0, 100)).find(({ type }) => type === 'execution.created')
  assert.equal(created?.fields.message_preview, undefined, 'private messages stay out of shared events')
})
