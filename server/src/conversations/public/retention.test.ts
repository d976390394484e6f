import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SweepDeps } from '../../foundation/settings/index.ts'
import type { Db } from '../../ports/database/port.ts'
import { silentLog } from '../../ports/log.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { strangersRetention } from '../chat/index.ts'
import { type Loose, openPublicWorld } from './test/world.ts'

const never = new AbortController().signal
const sam = 'sam@example.org'
type World = Awaited<ReturnType<typeof openPublicWorld>>

/** As the loops do it: conversations first, then the people who have none any more. */
async function sweep(world: World): Promise<void> {
  const { db, clock } = world
  const deps: SweepDeps = {
    ...{ db, clock, log: silentLog },
    settings: {
      value: () => 30,
      retention: { admit: async () => ({ isAdmitted: true, isNew: false }) },
    },
    raiseAlert: async () => {},
  }
  await strangersRetention(deps).run(never)
  await world.publicChat.visitors.sweep(never)
}

const pass = ({ clock }: World, days: number) =>
  clock.set(new Date(clock.now().getTime() + days * 24 * 3600_000))

async function rows(db: Db): Promise<number[]> {
  const tables = ['chat_sessions', 'chat_messages', 'public_visitors', 'public_session_tokens'] as const
  const counts: number[] = []
  for (const table of tables) {
    // Their columns do not matter here.
    const found = await db.withTables<Record<string, object>>().selectFrom(table).selectAll().execute()
    counts.push(found.length)
  }
  return counts
}

forEachDialect((_name, open) => {
  test('who does not come back is forgotten a window after the last message, and counted still', async () => {
    await using world = await openPublicWorld(open)
    const opened = await world.newLink()
    const asked = await world.newLink({ require_email: true })
    const gone = (await world.turn(opened.token, { message: 'one' })).json.session_id
    const session_token = await world.confirm(asked.token, sam)
    await world.turn(asked.token, { message: 'two', session_token })
    await world.confirm(asked.token, 'silent@example.org')
    pass(world, 20)
    const back = (await world.turn(opened.token, { message: 'three' })).json.session_id
    await sweep(world)
    assert.deepEqual(await rows(world.db), [3, 6, 4, 0], 'nothing is older than the window')
    pass(world, 20)
    await sweep(world)
    assert.deepEqual(await rows(world.db), [1, 2, 1, 0])
    assert.equal((await world.history(opened.token, `?session_id=${gone}`)).session_id, null)
    assert.equal((await world.history(opened.token, `?session_id=${back}`)).message_count, 2)
    const people = (await world.manage('GET')).json.map(({ usage }: Loose) => usage.unique_people)
    assert.deepEqual(people.sort(), [1, 2])
    const again = await world.confirm(asked.token, sam)
    const { json } = await world.turn(asked.token, { message: 'I am back', session_token: again })
    assert.equal(json.message_count, 2, 'a new conversation')
  })

  test('somebody who speaks at the moment of the sweep is answered, and keeps what was just said', async () => {
    await using world = await openPublicWorld(open)
    const { token } = await world.newLink()
    const ids: string[] = []
    for (const message of ['a', 'b', 'c', 'd', 'e']) {
      ids.push((await world.turn(token, { message })).json.session_id)
    }
    pass(world, 40)
    const say = (session_id: string) =>
      world.visit('POST', `/chat/${token}`, { message: 'again', session_id, async_mode: true })
    const [replies] = await Promise.all([Promise.all(ids.map(say)), sweep(world)])
    await sweep(world)
    for (const reply of replies) {
      assert.equal(reply.status, 200, JSON.stringify(reply.json))
      const history = await world.history(token, `?session_id=${reply.json.session_id}`)
      assert.equal(history.messages.at(-1).content, 'again')
    }
  })
})
