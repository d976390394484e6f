import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { type Loose, startTaskApp } from '../../test/task-app.ts'

const failed = { status: 'failed', error: 'went wrong', error_code: 'agent_error' } as const

forEachDialect((_, open) => {
  async function start() {
    const app = await startTaskApp(await open())
    const { call, woken, claim, finish } = app
    /** Runs one chat turn of this person and returns the run as the agent received it. */
    async function turn(message: string, overrides: object = { runtime_session_id: 'r1' }, who = 'ann') {
      const wake = woken()
      const reply = call(who, 'POST', '/chat', { message })
      await wake
      const run = await claim()
      await finish(run, { response: `re: ${message}`, ...overrides })
      return { run, session: (await reply).json.session }
    }
    const messages = async (session: string, who = 'ann') =>
      (await call(who, 'GET', `/sessions/${session}`)).json.messages.map((each: Loose) => [
        each.role,
        each.content,
        each.error_code,
      ])
    return { ...app, turn, messages }
  }

  test('save_to_session stores question and answer in the current conversation, creating it if needed', async () => {
    const { worked, messages, call } = await start()
    const file = { name: 'a.txt', mimetype: 'text/plain', data_base64: 'aGk=' }
    const reply = await worked('ann', { message: 'count', save_to_session: true, files: [file] })
    const session = reply.json.session_id
    assert.deepEqual(await messages(session), [
      ['user', 'count', null],
      ['assistant', 'done', null],
    ])
    const detail = (await call('ann', 'GET', `/sessions/${session}`)).json
    assert.deepEqual([detail.session.is_current, detail.session.title], [true, 'count'])
    assert.equal(detail.messages[0].files[0].name, 'a.txt')
    assert.equal(detail.messages[1].execution_id, reply.run.execution_id)
  })

  test('a failed task marks its question; a refused one stores none', async () => {
    const { worked, messages, task, call } = await start()
    await worked('ann', { message: 'count', save_to_session: true }, failed)
    const refused = await task('ann', { message: 'x', save_to_session: true, model: 'llama-3' })
    assert.equal(refused.status, 422)
    const [session] = (await call('ann', 'GET', '/sessions')).json
    assert.deepEqual(await messages(session.id), [['user', 'count', 'agent_error']])
  })

  test("the next turn includes the messages of tasks once, next to the runtime's own session", async () => {
    const { turn, worked } = await start()
    const { session } = await turn('hello')
    await worked('ann', { message: 'count', save_to_session: true, session_id: session.id })
    const next = await turn('and now?')
    assert.equal(next.run.resume_session_id, 'r1')
    assert.match(
      next.run.message,
      /<user>\ncount\n<\/user>\n<assistant>\ndone\n<\/assistant>[\s\S]*and now\?$/,
    )
    assert.doesNotMatch(next.run.message, /hello/)
    assert.equal((await turn('later')).run.message, 'later')
  })

  test("inject_result stores only the answer of a self-task in the person's conversation", async () => {
    const { turn, worked, messages, platform } = await start()
    const { session } = await turn('look into it')
    await worked(
      'self',
      { message: 'dig', session_id: session.id, inject_result: true },
      { response: 'gold' },
    )
    await worked('self', { message: 'dig', session_id: session.id, inject_result: true }, failed)
    assert.deepEqual((await messages(session.id)).slice(2), [
      ['assistant', 'gold', null],
      ['assistant', 'The task did not succeed. went wrong', 'agent_error'],
    ])
    await platform.events.relaying.pass()
    const readyEvents = (await platform.events.after(0, 1000)).filter(
      ({ type }) => type === 'chat.response_ready',
    )
    assert.deepEqual(
      readyEvents.map(({ fields }) => fields.status),
      ['success', 'success', 'failed'],
    )
    assert.match((await turn('well?')).run.message, /gold/)
  })

  test("404 for another person's conversation, 409 for a closed one", async () => {
    const { turn, task, call } = await start()
    const { session } = await turn('private')
    const body = { message: 'x', async_mode: true, session_id: session.id }
    for (const who of ['bob', 'other'])
      assert.equal((await task(who, { ...body, save_to_session: true })).json.error, 'session_not_found')
    assert.equal((await task('bob', body)).json.error, 'session_not_found')
    // An agent must not write messages in its person's name.
    assert.equal((await task('self', { ...body, save_to_session: true })).json.error, 'session_not_found')
    assert.equal((await task('self', { ...body, session_id: null, inject_result: true })).status, 422)
    assert.equal((await task('self', body)).status, 200)
    await call('ann', 'POST', `/chat/sessions/${session.id}/close`)
    assert.equal((await task('ann', { ...body, save_to_session: true })).json.error, 'conflict')
  })

  test("a run that works for a sharer neither finds nor changes another person's conversation", async () => {
    const { turn, task, call, messages, worked } = await start()
    const { session: anns } = await turn('private')
    const { session: bobs } = await turn('hello', {}, 'bob')
    const inject = (session_id: string) => ({ message: 'obey', session_id, inject_result: true })
    for (const who of ['bobsGuestRun', 'bobsSharedRun']) {
      for (const body of [inject(anns.id), { message: 'obey', session_id: anns.id }])
        assert.equal((await task(who, { ...body, async_mode: true })).json.error, 'session_not_found', who)
      await worked(who, inject(bobs.id), { response: `from ${who}` })
    }
    await worked('annsRun', inject(bobs.id), { response: 'from annsRun' })
    const own = (await worked('bobsSharedRun', { message: 'count', save_to_session: true })).json.session_id
    assert.equal(
      (await worked('bobsSharedRun', inject(own))).status,
      200,
      'the conversation of the run itself',
    )
    const added = (await messages(bobs.id, 'bob')).slice(2).map(([, content]: string[]) => content)
    assert.deepEqual(added, ['from bobsGuestRun', 'from bobsSharedRun', 'from annsRun'])
    assert.equal((await messages(anns.id)).length, 2)

    const listedBy = async (who: string) =>
      (await call(who, 'GET', '/executions?triggered_by=chat')).json.map((row: Loose) => row.session_id)
    assert.deepEqual(await listedBy('bob'), [bobs.id, null])
    assert.deepEqual(await listedBy('bobsSharedRun'), [bobs.id, null])
    // The agent learns the conversation of its owner's turn only here.
    for (const who of ['self', 'annsRun']) assert.deepEqual(await listedBy(who), [bobs.id, anns.id], who)
  })

  test('a task of a conversation blocks neither its turns nor its deletion', async () => {
    const { turn, task, call, claim } = await start()
    const { session } = await turn('hello')
    await task('ann', { message: 'slow', async_mode: true, save_to_session: true, session_id: session.id })
    await claim()
    const detail = (await call('ann', 'GET', `/sessions/${session.id}`)).json.session
    assert.deepEqual([detail.turn_in_progress, detail.in_flight_execution_id], [false, null])
    assert.equal((await turn('meanwhile')).session.id, session.id)
    assert.equal((await call('ann', 'DELETE', `/sessions/${session.id}`)).status, 200)
  })

  test('the end of a task whose conversation is deleted changes nothing', async () => {
    const { turn, task, call, claim, finish, platform } = await start()
    const { session } = await turn('hello')
    await task('ann', { message: 'slow', async_mode: true, save_to_session: true, session_id: session.id })
    const run = await claim()
    await call('ann', 'DELETE', `/sessions/${session.id}`)
    assert.deepEqual(await finish(run), { accepted: true })
    assert.equal((await platform.row(run.execution_id)).status, 'success')
  })
})
