import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json, type Loose, startChatPlatform } from '../../test/chat-platform.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { branchTitle } from './rules.ts'

type ChatPlatform = Awaited<ReturnType<typeof startChatPlatform>>

/** A conversation of bob with two turns. */
async function twoTurns({ turn, call }: ChatPlatform) {
  const { run } = await turn('bob', '/chat', { message: 'one' }, { runtime_session_id: 'rt-1' }, json)
  await turn('bob', '/chat', { message: 'two' }, { response: 'second' }, json)
  const path = `/sessions/${run.session_id}`
  const { messages } = (await call('bob', 'GET', path)).json
  return { id: run.session_id as string, path, messages: messages as Loose[] }
}

const textsOf = (messages: Loose[]) => messages.map(({ role, content }) => `${role}: ${content}`)

forEachDialect((_, open) => {
  test('a branch has the messages up to one, and the runtime gets them as text', async () => {
    const platform = await startChatPlatform(open)
    const { call, turn } = platform
    const { path, messages } = await twoTurns(platform)
    const made = await call('bob', 'POST', `${path}/branch`, { message_id: messages[1].id })
    assert.equal(made.status, 201)
    const { id, title, message_count, total_cost, runtime_session_id, is_current } = made.json
    assert.deepEqual(
      [title, message_count, total_cost, runtime_session_id, is_current],
      ['one (branch)', 2, 0, null, false],
    )
    const branch = (await call('bob', 'GET', `/sessions/${id}`)).json.messages
    assert.deepEqual(textsOf(branch), ['user: one', 'assistant: hello'])
    assert.deepEqual(
      branch.map(({ execution_id, timestamp }: Loose) => [execution_id, timestamp]),
      messages.slice(0, 2).map(({ execution_id, timestamp }) => [execution_id, timestamp]),
    )
    const { run } = await turn('bob', `/sessions/${id}/message`, { message: 'other way' }, {}, json)
    assert.equal(run.resume_session_id, null)
    assert.match(run.message, /<user>\none\n<\/user>\n<assistant>\nhello\n<\/assistant>/)
    assert.match(run.message, /other way$/)
    assert.doesNotMatch(run.message, /two|second/)
    const { json: original } = await call('bob', 'GET', path)
    assert.deepEqual(textsOf(original.messages), textsOf(messages), 'the original does not change')
    assert.equal(original.session.runtime_session_id, 'rt-1')
  })

  test('a branch during a run leaves the run and its question alone', async () => {
    const platform = await startChatPlatform(open)
    const { call, woken, work } = platform
    const { id, path } = await twoTurns(platform)
    const wake = woken()
    const reply = call('bob', 'POST', `${path}/message`, { message: 'three' }, json)
    await wake
    const { messages } = (await call('bob', 'GET', path)).json
    const question = messages.at(-1)
    const { json: branch } = await call('bob', 'POST', `${path}/branch`, { message_id: question.id })
    assert.deepEqual([branch.message_count, branch.in_flight_execution_id], [5, null])
    const run = await work({ response: 'third' })
    assert.equal(run.session_id, id)
    assert.equal((await reply).json.response, 'third')
    const copied = (await call('bob', 'GET', `/sessions/${branch.id}`)).json.messages
    assert.deepEqual([copied.at(-1).content, copied.at(-1).execution_id], ['three', null])
    assert.equal((await call('bob', 'GET', path)).json.messages.length, 6)
  })

  test('a branch of a branch, and one after a reset', async () => {
    const platform = await startChatPlatform(open)
    const { call, turn } = platform
    const { path, messages } = await twoTurns(platform)
    const { json: first } = await call('bob', 'POST', `${path}/branch`, { message_id: messages[3].id })
    const copies = (await call('bob', 'GET', `/sessions/${first.id}`)).json.messages
    const { json: second } = await call('bob', 'POST', `/sessions/${first.id}/branch`, {
      message_id: copies[1].id,
    })
    assert.deepEqual([second.title, second.message_count], ['one (branch)', 2])
    assert.equal((await call('bob', 'DELETE', `/sessions/${first.id}`)).status, 200)
    assert.equal((await call('bob', 'GET', `/sessions/${second.id}`)).json.messages.length, 2)

    assert.equal((await call('bob', 'POST', `${path}/reset`)).status, 200)
    await turn('bob', `${path}/message`, { message: 'after it' }, {}, json)
    const last = (await call('bob', 'GET', path)).json.messages.at(-1)
    const { json: third } = await call('bob', 'POST', `${path}/branch`, { message_id: last.id })
    assert.equal(third.message_count, 6)
    const { run } = await turn('bob', `/sessions/${third.id}/message`, { message: 'go on' }, {}, json)
    assert.match(run.message, /after it/)
    assert.doesNotMatch(run.message, /\bone\b/, 'what the reset has cleared stays cleared')
  })

  test('a branch from the first question gives that question to the runtime', async () => {
    const platform = await startChatPlatform(open)
    const { call, turn } = platform
    const { path, messages } = await twoTurns(platform)
    const { json: branch } = await call('bob', 'POST', `${path}/branch`, { message_id: messages[0].id })
    assert.equal(branch.message_count, 1)
    const { run } = await turn('bob', `/sessions/${branch.id}/message`, { message: 'again' }, {}, json)
    assert.match(run.message, /<user>\none\n<\/user>/)
  })

  test('404 for conversations of others and for messages of other conversations', async () => {
    const platform = await startChatPlatform(open)
    const { call } = platform
    const { path, messages } = await twoTurns(platform)
    for (const who of ['ann', 'admin', 'agent', 'self']) {
      const { status, json: body } = await call(who, 'POST', `${path}/branch`, { message_id: messages[0].id })
      assert.deepEqual([status, body.error], [404, 'session_not_found'], who)
    }
    const { json: other } = await call('bob', 'POST', '/sessions', {})
    for (const [of, message_id] of [
      [other.id, messages[0].id],
      [messages[0].session_id, 'unknown'],
    ]) {
      const { status, json: body } = await call('bob', 'POST', `/sessions/${of}/branch`, { message_id })
      assert.deepEqual([status, body.error], [404, 'not_found'])
    }
  })
})

test('the name of a branch is a valid name', () => {
  assert.equal(branchTitle(null), 'Conversation (branch)')
  assert.equal(branchTitle('Notes (branch)'), 'Notes (branch)')
  const long = branchTitle('x'.repeat(200))
  assert.deepEqual([long.length, long.endsWith('… (branch)')], [100, true])
})
