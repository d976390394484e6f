import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json, type Loose, startChatPlatform } from '../../test/chat-platform.ts'
import { forEachDialect } from '../../test/dialects.ts'

forEachDialect((_, open) => {
  test('pinned conversations come first; archived ones are listed only on request', async () => {
    const { call, clock } = await startChatPlatform(open)
    const create = async (title: string) => {
      await clock.advance(1)
      return (await call('bob', 'POST', '/sessions', { title })).json.id as string
    }
    const [first, second, third] = [await create('first'), await create('second'), await create('third')]
    const patch = async (id: string, changes: object) => {
      const { status, json: session } = await call('bob', 'PATCH', `/sessions/${id}`, changes)
      assert.equal(status, 200)
      return session
    }
    const titles = async (query = '') =>
      (await call('bob', 'GET', `/sessions${query}`)).json.map(({ title }: Loose) => title)

    assert.equal((await patch(first, { pinned: true })).pinned, true)
    assert.deepEqual(await titles(), ['first', 'third', 'second'])
    assert.equal((await patch(second, { archived: true })).archived_at, clock.now().toISOString())
    assert.deepEqual(await titles(), ['first', 'third'])
    assert.deepEqual(await titles('?archived=only'), ['second'])
    assert.deepEqual(await titles('?archived=include'), ['first', 'third', 'second'])
    assert.deepEqual(await titles('?search=second'), [])
    assert.deepEqual(await titles('?search=second&archived=include'), ['second'])
    const listed = await call('bob', 'GET', '/chat/sessions?archived=only')
    assert.deepEqual([listed.json.session_count, listed.headers['x-total-count']], [1, '1'])

    const both = await patch(first, { title: 'renamed', pinned: false })
    assert.deepEqual([both.title, both.pinned, both.archived_at], ['renamed', false, null])
    await patch(second, { archived: false })
    assert.deepEqual(await titles(), ['third', 'second', 'renamed'])
    assert.equal((await call('bob', 'GET', `/sessions/${third}`)).json.session.pinned, false)
  })

  test('an archived conversation is not the current one, and its next message restores it', async () => {
    const { call, turn } = await startChatPlatform(open)
    const { run } = await turn('bob', '/chat', { message: 'hi' }, {}, json)
    const path = `/sessions/${run.session_id}`
    const { json: archived } = await call('bob', 'PATCH', path, { archived: true })
    assert.equal(archived.is_current, false)
    assert.equal((await call('bob', 'GET', path)).json.messages.length, 2, 'its messages stay')
    await turn('bob', `${path}/message`, { message: 'again' }, {}, json)
    assert.equal((await call('bob', 'GET', path)).json.session.archived_at, null)
  })
})

test('422 without a change, 404 for conversations of others', async () => {
  const { call } = await startChatPlatform()
  const { json: session } = await call('bob', 'POST', '/sessions', {})
  const path = `/sessions/${session.id}`
  for (const [changes, loc] of [
    [{}, ['body']],
    [{ pinned: 1 }, ['body', 'pinned']],
    [{ archived: null }, ['body', 'archived']],
  ] as const) {
    const { status, json: body } = await call('bob', 'PATCH', path, changes)
    assert.deepEqual([status, body.detail[0].loc], [422, loc], JSON.stringify(changes))
  }
  assert.equal((await call('bob', 'GET', '/sessions?archived=yes')).status, 422)
  for (const who of ['ann', 'admin', 'agent', 'self']) {
    assert.equal((await call(who, 'PATCH', path, { pinned: true })).json.error, 'session_not_found')
  }
})
