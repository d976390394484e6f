import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SignedIn } from '../../identity/access/index.ts'
import { silentLog } from '../../ports/log.ts'
import { type RunRequest, sourceOf } from '../../runs/dispatch/index.ts'
import { agentKey, runKey } from '../../test/agents-platform.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { linked, person, resultOf } from '../../test/run-platform.ts'
import { agent, pass, set, startReminderPlatform } from '../../triggers/reminders/test/reminder-platform.ts'
import { type Chat, chatStore, createChat } from './index.ts'
import type { ChatTables } from './tables.ts'

const party = { caller: person({ id: 'u-owner' }), agent }

forEachDialect((_, openDb) => {
  async function start() {
    const clock = createTestClock()
    const built: Chat[] = []
    const on = await startReminderPlatform({
      db: await openDb(),
      clock,
      deliver(platform) {
        const chat = createChat({ ...platform, log: silentLog })
        built.push(chat)
        return chat.deliverResult
      },
    })
    return { ...on, clock, chat: built[0] ?? assert.fail() }
  }
  type On = Awaited<ReturnType<typeof start>>

  const turn = ({ chat }: On, message: string) =>
    chat.acceptOnce(party, { message, files: [], sessionId: null, viaMcp: false }, undefined)
  const claim = async ({ dispatch }: On) =>
    (await dispatch.handlers.claim(linked, { t: 'claim', free: 1 })).runs[0] ?? assert.fail()
  /** Starts a run and claims it. */
  async function begin(on: On, request: Pick<RunRequest, 'triggeredBy'> & Partial<RunRequest>) {
    const defaults = {
      agentId: 'a1',
      kind: 'task',
      message: 'work',
      source: sourceOf(party.caller, null),
    } as const
    const agentContext = await on.dispatch.checkAgent('a1')
    await on.dispatch.transaction((tx) => on.dispatch.enqueue(tx, agentContext, { ...defaults, ...request }))
    await claim(on)
  }
  const end = ({ dispatch }: On, run: Awaited<ReturnType<typeof claim>>, response: string) =>
    dispatch.handlers.result(linked, resultOf(run, { response }))
  const messages = async ({ chat }: On, sessionId: string) =>
    (await chat.sessions.read(party, sessionId, { limit: 99 })).messages

  test('a reminder set in a turn adds its result as one message, after the reply in progress', async () => {
    const on = await start()
    await turn(on, 'remind me')
    const first = await claim(on)
    const reminder = await set(on, {}, { caller: agentKey('a1') })
    const sessionId = reminder.origin_session_id ?? assert.fail('it knows its conversation')
    await end(on, first, 'I will')
    await on.clock.advance(60)
    await pass(on)
    const run = await claim(on)
    await turn(on, 'and now?')
    const second = await claim(on)
    await end(on, run, 'here I am')
    await pass(on)
    assert.equal((await messages(on, sessionId)).length, 3)
    await end(on, second, 'wait')
    await Promise.all(Array.from({ length: 20 }, () => pass(on)))
    assert.deepEqual(
      (await messages(on, sessionId)).slice(3).map(({ role, content, source }) => [role, content, source]),
      [
        ['assistant', 'wait', 'text'],
        ['assistant', 'here I am', 'reminder'],
      ],
    )
  })

  test('after two minutes the result no longer waits for a reply', async () => {
    const on = await start()
    await turn(on, 'remind me')
    await claim(on)
    const { origin_session_id } = await set(on, {}, { caller: agentKey('a1') })
    const sessionId = origin_session_id ?? assert.fail()
    await on.clock.advance(60)
    await pass(on)
    await end(on, await claim(on), 'late')
    await on.clock.advance(119)
    await pass(on)
    assert.equal((await messages(on, sessionId)).length, 1)
    await on.clock.advance(1)
    await pass(on)
    assert.equal((await messages(on, sessionId)).length, 2)
  })

  test('with several running turns the origin is unknown; a deleted conversation gets nothing', async () => {
    const on = await start()
    await turn(on, 'one')
    const run = await claim(on)
    const { origin_session_id } = await set(on, {}, { caller: agentKey('a1') })
    assert.ok(origin_session_id)
    await on.chat.acceptOnce(
      { ...party, caller: person({ id: 'u2' }) },
      { message: 'two', files: [], sessionId: null, viaMcp: false },
      undefined,
    )
    await claim(on)
    const second = await set(on, { message: 'other' }, { caller: agentKey('a1') })
    assert.equal(second.origin_session_id, null)
    await end(on, run, 'done')
    await on.chat.sessions.remove(party, origin_session_id)
    await on.clock.advance(60)
    await pass(on)
    await end(on, await claim(on), 'for nobody')
    await pass(on)
  })

  test("the agent's own key names no turn of somebody else; the key of a run names its own turn", async () => {
    const on = await start()
    const bob = { ...party, caller: person({ id: 'u2', username: 'bob' }) }
    const request = { message: 'hello', files: [], sessionId: null, viaMcp: false }
    const { turn: of } = await on.chat.acceptOnce(bob, request, undefined)
    const { execution_id: id } = await claim(on)
    const { origin_session_id } = await set(on, {}, { caller: agentKey('a1') })
    assert.equal(origin_session_id, null)
    await turn(on, 'another')
    await claim(on)
    const known = await set(on, { message: 'known' }, { caller: runKey({ id, agent_id: 'a1' }) })
    assert.deepEqual([typeof of?.session.id, known.origin_session_id], ['string', of?.session.id])
    const named = async (caller: SignedIn) => {
      const all = await on.reminders.list({ caller, agent }, { status: 'all', limit: 9 })
      return all.map((reminder) => reminder.origin_session_id).filter((origin) => origin !== null)
    }
    assert.deepEqual(await named(party.caller), [of?.session.id])
    assert.deepEqual(await named(agentKey('a1')), [of?.session.id])
    assert.deepEqual(await named(bob.caller), [])
  })

  test('a running task of another caller hides the origin; tasks of the turn itself do not', async () => {
    const on = await start()
    await turn(on, 'one')
    const running = await claim(on)
    await begin(on, { triggeredBy: 'self_task', links: { parentExecutionId: running.execution_id } })
    const own = await set(on, {}, { caller: agentKey('a1') })
    assert.ok(own.origin_session_id)
    await begin(on, { triggeredBy: 'agent' })
    const other = await set(on, { message: 'other' }, { caller: agentKey('a1') })
    assert.equal(other.origin_session_id, null)
  })

  test('a conversation with a stranger gets nothing', async () => {
    const on = await start()
    const { turn: accepted } = await turn(on, 'remind me')
    const sessionId = accepted?.session.id ?? assert.fail()
    await on.db.withTables<ChatTables>().updateTable('chat_sessions').set({ kind: 'public' }).execute()
    const first = await claim(on)
    await set(on, {}, { caller: agentKey('a1') })
    await end(on, first, 'I will')
    await on.clock.advance(60)
    await pass(on)
    await end(on, await claim(on), 'here I am')
    await pass(on)
    const stored = await chatStore(on.db).messages(sessionId, 99)
    assert.deepEqual(
      stored.map(({ content }) => content),
      ['remind me', 'I will'],
    )
  })
})
