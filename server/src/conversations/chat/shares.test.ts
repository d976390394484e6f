import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { type Loose, openWorkspaceWorld } from '../workspace-chat/test/world.ts'
import { chatRoutes, chatShareRoutes, createChatShares } from './index.ts'
import type { ChatTables } from './tables.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const agentPath = '/api/agents/scout'

/** `sam`, with whom scout is shared, has a conversation; `eve` has no access to scout. */
async function openShareWorld(open: OpenTestDb) {
  const world = await openWorkspaceWorld(open, {
    more: ({ area, chat, ...parts }) => [
      ...chatRoutes(chat),
      ...chatShareRoutes(
        createChatShares({
          ...parts,
          sessions: chat.sessions,
          agentRecords: area.agentRecords,
          principals: area.principals,
          baseUrl: 'https://roost.example',
        }),
      ),
    ],
  })
  const { platformRequest: request } = world
  const sam = await world.person('user', 'sam@example.org')
  const eve = await world.person('user', 'eve@example.org')
  const admin = await world.person('admin', 'root@example.org')
  await world.share('sam@example.org')
  const { json: session } = await request(sam.key, 'POST', `${agentPath}/sessions`, { title: 'Plan' })
  const path = `${agentPath}/sessions/${session.id}`
  const files = [{ name: 'dot.png', mimetype: 'image/png', data_base64: png }]
  const reply = request(
    sam.key,
    'POST',
    `${path}/message`,
    { message: 'look', files },
    { accept: 'application/json' },
  )
  await world.waiting()
  const run = await world.claim()
  await world.finish(run)
  await reply
  return {
    ...world,
    request,
    ...{ sam, eve, admin, path },
    sessionId: session.id as string,
    offer: (username: string, by = sam.key) => request(by, 'POST', `${path}/shares`, { username }),
    read: (as: string, id: string, rest = '') => request(as, 'GET', `/api/shared-conversations/${id}${rest}`),
  }
}

const outcome = ({ status, json }: { status: number; json: Loose }) => [status, json?.error]
const unknown = [404, 'session_not_found']

forEachDialect((_, open) => {
  test('a share shows messages and pictures to its account, without runs, costs and files', async () => {
    await using world = await openShareWorld(open)
    const { eve, offer, read, request, sam, path } = world
    const made = await offer('EVE@example.org')
    assert.equal(made.status, 201, JSON.stringify(made.json))
    const { id, url, username } = made.json
    assert.deepEqual([url, username], [`https://roost.example/shared/${id}`, 'eve@example.org'])
    assert.equal((await request(sam.key, 'GET', path)).json.session.share_count, 1)

    const shown = await read(eve.key, id)
    assert.equal(shown.status, 200)
    assert.equal(shown.headers['cache-control'], 'private, no-store')
    const { conversation, messages } = shown.json
    assert.deepEqual([conversation.title, conversation.shared_by], ['Plan', 'sam@example.org'])
    assert.deepEqual(
      messages.map(({ role, content }: Loose) => `${role}: ${content}`),
      ['user: look', 'assistant: hello'],
    )
    assert.deepEqual(Object.keys(messages[0]).toSorted(), [
      'content',
      'error_code',
      'files',
      'id',
      'role',
      'source',
      'timestamp',
      'tool_calls',
    ])
    const [{ picture_id }] = messages[0].files
    const picture = await read(eve.key, id, `/pictures/${picture_id}`)
    assert.deepEqual([picture.status, picture.headers['content-type']], [200, 'image/png'])
    const listed = await request(eve.key, 'GET', '/api/shared-conversations')
    assert.deepEqual(
      listed.json.map(({ share_id }: Loose) => share_id),
      [id],
    )
  })

  test('a share opens nothing else: no agent, files, runs, sending or conversation by its id', async () => {
    await using world = await openShareWorld(open)
    const { eve, offer, read, request, sam, path } = world
    const { id } = (await offer('eve@example.org')).json
    const { messages } = (await request(sam.key, 'GET', path)).json
    const run = messages[0].execution_id
    for (const [method, address, body] of [
      ['GET', path],
      ['PATCH', path, { pinned: true }],
      ['DELETE', path],
      ['POST', `${path}/message`, { message: 'x' }],
      ['POST', `${path}/branch`, { message_id: messages[0].id }],
      ['GET', `${path}/shares`],
      ['POST', `${path}/shares`, { username: 'root@example.org' }],
      ['DELETE', `${path}/shares/${id}`],
      ['GET', `${path}/pictures/${messages[0].files[0].picture_id}`],
      ['GET', `${agentPath}/executions/${run}`],
      ['GET', `${agentPath}/executions/${run}/log`],
      ['GET', `${agentPath}/files/download?path=README.md`],
      ['GET', agentPath],
    ] as const) {
      const reply = await request(eve.key, method, address, body)
      assert.equal(reply.status, 404, `${method} ${address}`)
    }
    for (const rest of ['/pictures/x', '/pictures/..%2F..%2Fagents', '/pictures/']) {
      assert.equal((await read(eve.key, id, rest)).status, 404, rest)
    }
    assert.equal((await read(eve.key, id, '?before=unknown')).status, 422)
  })

  test('404 like an unknown conversation: other accounts, guessed ids, after revoking', async () => {
    await using world = await openShareWorld(open)
    const { eve, admin, owner, sam, offer, read, request, path, sessionId } = world
    const { id } = (await offer('eve@example.org')).json
    for (const as of [sam.key, owner.key, admin.key]) assert.deepEqual(outcome(await read(as, id)), unknown)
    for (const guess of ['x', sessionId, `${id}x`, id.slice(1)]) {
      assert.deepEqual(outcome(await read(eve.key, guess)), unknown, guess)
    }
    const agent = await world.agentKey(world.agentId)
    assert.deepEqual(outcome(await read(agent, id)), [403, 'person_required'])
    assert.equal((await read('', id)).status, 401)

    const revoke = () => request(sam.key, 'DELETE', `${path}/shares/${id}`)
    assert.deepEqual((await revoke()).json, { share_id: id, revoked: true })
    assert.deepEqual(outcome(await revoke()), [404, 'link_not_found'])
    assert.deepEqual(outcome(await read(eve.key, id)), unknown)
    assert.deepEqual((await request(eve.key, 'GET', '/api/shared-conversations')).json, [])
    const again = (await offer('eve@example.org')).json
    assert.notEqual(again.id, id)
    assert.deepEqual(outcome(await read(eve.key, id)), unknown, 'the old address stays closed')
  })

  test('only its person shares a conversation; an admin sees and ends shares, the owner of the agent does not', async () => {
    await using world = await openShareWorld(open)
    const { admin, owner, offer, request, path } = world
    for (const by of [owner.key, admin.key])
      assert.deepEqual(outcome(await offer('eve@example.org', by)), unknown)
    const { id } = (await offer('eve@example.org')).json
    assert.deepEqual(outcome(await request(owner.key, 'GET', `${path}/shares`)), unknown)
    assert.deepEqual(outcome(await request(owner.key, 'DELETE', `${path}/shares/${id}`)), unknown)
    const agent = await world.agentKey(world.agentId)
    assert.equal((await request(agent, 'GET', `${path}/shares`)).json.error, 'person_required')
    const listed = await request(admin.key, 'GET', `${path}/shares`)
    assert.deepEqual(
      listed.json.map(({ username }: Loose) => username),
      ['eve@example.org'],
    )
    assert.equal((await request(admin.key, 'DELETE', `${path}/shares/${id}`)).status, 200)
  })

  test('refuses unknown and suspended accounts by field, oneself, and a second share', async () => {
    await using world = await openShareWorld(open)
    const { offer, db, eve } = world
    const nobody = await offer('nobody@example.org')
    assert.deepEqual([nobody.status, nobody.json.detail[0].loc], [422, ['body', 'username']])
    assert.deepEqual(outcome(await offer('sam@example.org')), [400, 'self_share'])
    assert.equal((await offer('eve@example.org')).status, 201)
    assert.deepEqual(outcome(await offer('eve@example.org')), [409, 'already_shared'])
    const users = db.withTables<{ users: { id: string; suspended_at: string | null } }>()
    await users.updateTable('users').set({ suspended_at: '2026-01-01' }).where('id', '=', eve.id).execute()
    assert.deepEqual((await offer('eve@example.org')).json.detail[0].loc, ['body', 'username'])
  })

  test('a share ends with the access of its person, the conversation, the agent and the account', async () => {
    await using world = await openShareWorld(open)
    const { eve, sam, owner, db, offer, read, request, path } = world
    const { id } = (await offer('eve@example.org')).json
    const stored = async () =>
      (await db.withTables<ChatTables>().selectFrom('chat_shares').select('id').execute()).length

    await world.unshare('sam@example.org')
    assert.deepEqual(outcome(await read(eve.key, id)), unknown)
    assert.deepEqual((await request(eve.key, 'GET', '/api/shared-conversations')).json, [])
    await world.share('sam@example.org')
    assert.equal((await read(eve.key, id)).status, 200)

    assert.equal((await request(sam.key, 'DELETE', path)).status, 200)
    assert.deepEqual(outcome(await read(eve.key, id)), unknown)
    assert.equal(await stored(), 0)

    const { json: second } = await request(sam.key, 'POST', `${agentPath}/sessions`, {})
    const shares = `${agentPath}/sessions/${second.id}/shares`
    const other = await request(sam.key, 'POST', shares, { username: 'eve@example.org' })
    assert.equal((await read(eve.key, other.json.id)).status, 200)
    assert.equal((await request(sam.key, 'POST', shares, { username: 'ann@example.org' })).status, 201)
    const users = db.withTables<{ users: { id: string } }>()
    const ghost = await users
      .selectFrom('users')
      .selectAll()
      .where('id', '=', eve.id)
      .executeTakeFirstOrThrow()
    const login = { id: 'ghost', username: 'ghost', email: null }
    await users
      .insertInto('users')
      .values({ ...ghost, ...login })
      .execute()
    await db
      .withTables<ChatTables>()
      .insertInto('chat_shares')
      .values({ id: 'g', session_id: second.id, user_id: 'ghost', created_at: '2026-01-01T00:00:00.000Z' })
      .execute()
    await users.deleteFrom('users').where('id', '=', 'ghost').execute()
    assert.equal(await stored(), 2, 'deleting an account deletes its shares')

    const gone = await request(owner.key, 'DELETE', agentPath)
    assert.equal(gone.status, 200, JSON.stringify(gone.json))
    assert.deepEqual(outcome(await read(eve.key, other.json.id)), unknown)
    assert.equal(await stored(), 0)
  })
})
