import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SweepDeps } from '../../foundation/settings/index.ts'
import type { Db } from '../../ports/database/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { visitorRetention } from '../chat/index.ts'
import { type Loose, openPublicWorld } from './test/world.ts'

const never = new AbortController().signal
const sam = 'sam@example.org'
type World = Awaited<ReturnType<typeof openPublicWorld>>

/** Runs both loops in order: conversations, then visitors without conversations. */
async function sweep(world: World): Promise<void> {
  const { db, clock } = world
  const deps: SweepDeps = {
    ...{ db, clock, log: silentLog },
    settings: {
      value: () => 30,
      retention: { admit: async () => ({ isAdmitted: true, isNew: false }) },
    },
    alerts: createTestAlerts().alerts,
  }
  await visitorRetention(deps).run(never)
  await world.publicChat.visitors.sweep(never)
}

const advanceDays = ({ clock }: World, days: number) =>
  clock.set(new Date(clock.now().getTime() + days * 24 * 3600_000))

async function rows(db: Db): Promise<number[]> {
  const tables = ['chat_sessions', 'chat_messages', 'public_visitors', 'public_session_tokens'] as const
  const counts: number[] = []
  for (const table of tables) {
    // Their columns do not matter here.
    const tableRows = await db.withTables<Record<string, object>>().selectFrom(table).selectAll().execute()
    counts.push(tableRows.length)
  }
  return counts
}

forEachDialect((_name, open) => {
  test('visitors are deleted one retention window after their last message, but still counted', async () => {
    await using world = await openPublicWorld(open)
    const opened = await world.newLink()
    const verified = await world.newLink({ require_email: true })
    const firstSession = (await world.turn(opened.token, { message: 'one' })).json.session_id
    const session_token = await world.confirm(verified.token, sam)
    await world.turn(verified.token, { message: 'two', session_token })
    await world.confirm(verified.token, 'silent@example.org')
    advanceDays(world, 20)
    const secondSession = (await world.turn(opened.token, { message: 'three' })).json.session_id
    await sweep(world)
    assert.deepEqual(await rows(world.db), [3, 6, 4, 0], 'nothing is older than the window')
    advanceDays(world, 20)
    await sweep(world)
    assert.deepEqual(await rows(world.db), [1, 2, 1, 0])
    assert.equal((await world.history(opened.token, `?session_id=${firstSession}`)).session_id, null)
    assert.equal((await world.history(opened.token, `?session_id=${secondSession}`)).message_count, 2)
    const people = (await world.manage('GET')).json.map(({ usage }: Loose) => usage.unique_people)
    assert.deepEqual(people.sort(), [1, 2])
    const newToken = await world.confirm(verified.token, sam)
    const { json } = await world.turn(verified.token, { message: 'I am back', session_token: newToken })
    assert.equal(json.message_count, 2, 'a new conversation')
  })

  test('a message sent during the sweep is answered and kept', async () => {
    await using world = await openPublicWorld(open)
    const { token } = await world.newLink()
    const ids: string[] = []
    for (const message of ['a', 'b', 'c', 'd', 'e']) {
      ids.push((await world.turn(token, { message })).json.session_id)
    }
    advanceDays(world, 40)
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
