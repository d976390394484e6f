import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { type Loose, startTaskApp } from '../../test/task-app.ts'

const failed = { status: 'failed', error: 'went wrong', error_code: 'agent_error' } as const

forEachDialect((_, open) => {
  async function start() {
    const app = await startTaskApp(await open())
    const { call, woken, claim, finish } = app
    /** One whole chat turn of Ann's; gives the run as the agent got it. */
    async function turn(message: string, over: object = { runtime_session_id: 'r1' }) {
      const wake = woken()
      const reply = call('ann', 'POST', '/chat', { message })
      await wake
      const run = await claim()
      await finish(run, { response: `re: ${message}`, ...over })
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

  test('save_to_session: question and answer become messages of the current conversation, made on demand', async () => {
    const { worked, messages, call } = await start()
    const file = { name: 'a.txt', mimetype: 'text/plain', data_base64: 'aGk=' }
    const reply = await worked('ann', { message: 'count', save_to_session: true, files: [file] })
    const session = reply.json.session_id
    assert.deepEqual(await messages(session), [
      ['user', 'count', null],
      ['assistant', 'done', null],
    ])
    const shown = (await call('ann', 'GET', `/sessions/${session}`)).json
    assert.deepEqual([shown.session.is_current, shown.session.title], [true, 'count'])
    assert.equal(shown.messages[0].files[0].name, 'a.txt')
    assert.equal(shown.messages[1].execution_id, reply.run.execution_id)
  })

  test('a task that fails marks its question; one that was refused leaves none', async () => {
    const { worked, messages, task, call } = await start()
    await worked('ann', { message: 'count', save_to_session: true }, failed)
    const refused = await task('ann', { message: 'x', save_to_session: true, model: 'llama-3' })
    assert.equal(refused.status, 422)
    const [session] = (await call('ann', 'GET', '/sessions')).json
    assert.deepEqual(await messages(session.id), [['user', 'count', 'agent_error']])
  })

  test("the next turn brings along what tasks have added, once, beside the runtime's own memory", async () => {
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

  test("inject_result: a self-task's answer alone becomes a message of the person's conversation", async () => {
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
    const told = (await platform.events.after(0, 1000)).filter(({ type }) => type === 'chat.response_ready')
    assert.deepEqual(
      told.map(({ fields }) => fields.status),
      ['success', 'success', 'failed'],
    )
    assert.match((await turn('well?')).run.message, /gold/)
  })

  test('nobody speaks in the conversation of somebody else, and nobody in a closed one', async () => {
    const { turn, task, call } = await start()
    const { session } = await turn('private')
    const asked = { message: 'x', async_mode: true, session_id: session.id }
    for (const who of ['bob', 'other'])
      assert.equal((await task(who, { ...asked, save_to_session: true })).json.error, 'session_not_found')
    assert.equal((await task('bob', asked)).json.error, 'session_not_found')
    // An agent does not make up what its person has said.
    assert.equal((await task('self', { ...asked, save_to_session: true })).json.error, 'session_not_found')
    assert.equal((await task('self', { ...asked, session_id: null, inject_result: true })).status, 422)
    assert.equal((await task('self', asked)).status, 200)
    await call('ann', 'POST', `/chat/sessions/${session.id}/close`)
    assert.equal((await task('ann', { ...asked, save_to_session: true })).json.error, 'conflict')
  })

  test('a task of a conversation is no turn of it: it holds up neither turns nor their end', async () => {
    const { turn, task, call, claim } = await start()
    const { session } = await turn('hello')
    await task('ann', { message: 'slow', async_mode: true, save_to_session: true, session_id: session.id })
    await claim()
    const shown = (await call('ann', 'GET', `/sessions/${session.id}`)).json.session
    assert.deepEqual([shown.turn_in_progress, shown.in_flight_execution_id], [false, null])
    assert.equal((await turn('meanwhile')).session.id, session.id)
    assert.equal((await call('ann', 'DELETE', `/sessions/${session.id}`)).status, 200)
  })

  test('the end of a task whose conversation is gone changes nothing there', async () => {
    const { turn, task, call, claim, finish, platform } = await start()
    const { session } = await turn('hello')
    await task('ann', { message: 'slow', async_mode: true, save_to_session: true, session_id: session.id })
    const run = await claim()
    await call('ann', 'DELETE', `/sessions/${session.id}`)
    assert.deepEqual(await finish(run), { accepted: true })
    assert.equal((await platform.row(run.execution_id)).status, 'success')
  })
})
