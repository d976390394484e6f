import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json, type Loose, startChatPlatform } from '../../test/chat-platform.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { overLimit, pictureLimits } from './pictures.ts'
import type { ChatTables } from './tables.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const picture = { name: 'dot.png', mimetype: 'image/png', data_base64: png }
const notes = { name: 'notes.txt', mimetype: 'text/plain', data_base64: 'aGk=' }

/** A conversation of bob with a picture and a text file. */
async function withPicture({ turn, call }: Awaited<ReturnType<typeof startChatPlatform>>) {
  const { run } = await turn('bob', '/chat', { message: 'look', files: [picture, notes] }, {}, json)
  const path = `/sessions/${run.session_id}`
  const [question, answer] = (await call('bob', 'GET', path)).json.messages as Loose[]
  const [stored, text] = question.files
  return { path, question, answer, stored, text }
}

forEachDialect((_, open) => {
  test('a picture is stored with its message; of other files only the name', async () => {
    const platform = await startChatPlatform(open)
    const { call } = platform
    const { path, stored, text } = await withPicture(platform)
    assert.deepEqual([text.name, text.picture_id], ['notes.txt', null])
    const reply = await call('bob', 'GET', `${path}/pictures/${stored.picture_id}`)
    assert.equal(reply.status, 200)
    const { headers } = reply
    assert.deepEqual(
      [headers['content-type'], headers['x-content-type-options'], headers['content-length']],
      ['image/png', 'nosniff', String(Buffer.from(png, 'base64').length)],
    )
    assert.match(String(headers['content-security-policy']), /sandbox; default-src 'none'/)
    assert.match(String(headers['cache-control']), /no-store/)
  })

  test('404 for others and for pictures of another conversation; admins can see it', async () => {
    const platform = await startChatPlatform(open)
    const { call } = platform
    const { path, stored } = await withPicture(platform)
    const address = `${path}/pictures/${stored.picture_id}`
    for (const who of ['ann', 'agent', 'self']) {
      assert.equal((await call(who, 'GET', address)).json.error, 'session_not_found', who)
    }
    assert.equal((await call('admin', 'GET', address)).status, 200)
    const { json: own } = await call('ann', 'POST', '/sessions', {})
    const guessed = await call('ann', 'GET', `/sessions/${own.id}/pictures/${stored.picture_id}`)
    assert.deepEqual([guessed.status, guessed.json.error], [404, 'file_not_found'])
  })

  test('a branch shows the pictures of its messages; the last conversation that shows one deletes it', async () => {
    const platform = await startChatPlatform(open)
    const { call, turn } = platform
    const { path, answer, stored } = await withPicture(platform)
    await turn('bob', `${path}/message`, { message: 'and this', files: [picture] }, {}, json)
    const { json: branch } = await call('bob', 'POST', `${path}/branch`, { message_id: answer.id })
    const later = (await call('bob', 'GET', path)).json.messages[2].files[0].picture_id
    const inBranch = (id: string) => call('bob', 'GET', `/sessions/${branch.id}/pictures/${id}`)
    assert.equal((await inBranch(stored.picture_id)).status, 200)
    assert.equal((await inBranch(later)).status, 404)
    assert.equal((await call('bob', 'DELETE', path)).status, 200)
    assert.equal((await inBranch(stored.picture_id)).status, 200)
    assert.deepEqual(await storedIds(platform), [stored.picture_id])
    assert.equal((await call('bob', 'DELETE', `/sessions/${branch.id}`)).status, 200)
    assert.deepEqual(await storedIds(platform), [])
  })

  test('pictures end with the agent; callers that are no persons store none', async () => {
    const platform = await startChatPlatform(open)
    const { turn, chat, platform: runs } = platform
    await withPicture(platform)
    const before = await storedIds(platform)
    await turn('agent', '/chat', { message: 'look', files: [picture] }, {}, json)
    assert.deepEqual(await storedIds(platform), before)
    await runs.db.atomically((tx) => chat.agentDeleted(tx, 'a1'))
    assert.deepEqual(await storedIds(platform), [])
  })
})

async function storedIds({ platform }: Awaited<ReturnType<typeof startChatPlatform>>): Promise<string[]> {
  const rows = await platform.db
    .withTables<ChatTables>()
    .selectFrom('chat_pictures')
    .select('id')
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

test('the oldest pictures above the limits are deleted', () => {
  const sized = (size: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({ id: `${n}`, size }))
  assert.deepEqual(overLimit(sized(1, pictureLimits.count)), [])
  assert.deepEqual(overLimit(sized(1, pictureLimits.count + 2)), ['500', '501'])
  assert.deepEqual(overLimit(sized(pictureLimits.bytes / 2, 3)), ['2'])
})
