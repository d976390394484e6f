import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../agents/test/world.ts'
import { isFault } from '../../kit/fault.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { openPublicWorld } from './test/world.ts'

const sam = 'sam@example.org'

forEachDialect((_name, open) => {
  test('a mailed code verifies an address; new tokens of it continue the same conversation', async () => {
    await using world = await openPublicWorld(open)
    const { id, token } = await world.newLink({ require_email: true })
    assert.equal((await world.visit('GET', `/link/${token}`)).json.require_email, true)
    const requested = await world.visit('POST', '/verify/request', { token, email: ' Sam@Example.org ' })
    assert.deepEqual([requested.status, requested.json.expires_in_seconds], [200, 600])
    await until(() => world.mail.sent.length > 0, 'the code was sent')
    assert.equal(JSON.stringify(world.mail.sent).includes(token), false)
    const wrong = await world.visit('POST', '/verify/confirm', { token, email: sam, code: 'no' })
    assert.deepEqual([wrong.status, wrong.json.error], [401, 'invalid_code'])
    const session_token = await world.confirm(token, sam)
    const first = await world.turn(token, { message: 'one', session_token }, { runtime_session_id: 'r1' })
    assert.equal(first.status, 200, JSON.stringify(first.json))
    const row = await world.runs.row(first.run.execution_id)
    assert.deepEqual([row.triggered_by, row.source_user_id, row.source_user_email], ['public', null, sam])
    const again = await world.confirm(token, sam)
    const second = await world.turn(token, { message: 'two', session_token: again })
    assert.deepEqual([second.run.resume_session_id, second.json.message_count], ['r1', 4])
    assert.equal((await world.manage('GET', `/${id}`)).json.usage.unique_people, 1)
    const history = await world.history(token, '', { 'x-session-token': session_token })
    assert.equal(history.message_count, 4)
    const reset = await world.visit('DELETE', `/session/${token}?session_token=${again}`)
    assert.deepEqual(reset.json, { cleared: true, new_session_id: null })
    assert.equal((await world.history(token, `?session_token=${session_token}`)).message_count, 0)
  })

  test('401 session_expired without a token, with a token of another link, with the id of an open link, and after 24 hours', async () => {
    await using world = await openPublicWorld(open)
    const { token } = await world.newLink({ require_email: true })
    const other = await world.newLink({ require_email: true })
    const valid = await world.confirm(token, sam)
    const elsewhere = await world.confirm(other.token, sam)
    const { execution_id } = (await world.turn(token, { message: 'one', session_token: valid })).json
    const refused = async (session_token?: string) => {
      const query = session_token === undefined ? '' : `?session_token=${session_token}`
      const turn = `/executions/${token}/${execution_id}`
      for (const [method, path, body] of [
        ['POST', `/chat/${token}`, { message: 'hi', session_token }],
        ['GET', `/history/${token}${query}`],
        ['DELETE', `/session/${token}${query}`],
        ['GET', `${turn}/status${query}`],
        ['GET', `${turn}/stream${query}`],
        ['POST', `${turn}/terminate${query}`],
      ] as const) {
        const reply = await world.visit(method, path, body)
        assert.deepEqual([reply.status, reply.json.error], [401, 'session_expired'], `${method} ${path}`)
      }
    }
    await refused()
    await refused(elsewhere)
    await refused('nonsense')
    assert.equal((await world.visit('GET', `/history/${token}?session_token=${valid}`)).status, 200)
    await world.clock.advance(24 * 3600)
    await refused(valid)
  })

  test('a turn is visible only to the session token that started it', async () => {
    await using world = await openPublicWorld(open)
    const { id, token } = await world.newLink({ require_email: true })
    const openLink = await world.newLink()
    const ownToken = await world.confirm(token, sam)
    const otherToken = await world.confirm(token, 'tom@example.org')
    const later = await world.confirm(token, sam)
    const sent = await world.visit('POST', `/chat/${token}`, {
      message: 'hi',
      session_token: ownToken,
      async_mode: true,
    })
    const { execution_id } = sent.json
    await world.claim()
    const ask = (link: string, action: string, session_token: string, method = 'GET') =>
      world.visit(method, `/executions/${link}/${execution_id}/${action}?session_token=${session_token}`)
    for (const [link, sessionToken] of [
      [token, otherToken],
      [token, later],
      [openLink.token, ownToken],
    ] as const) {
      for (const action of ['status', 'stream']) {
        assert.equal((await ask(link, action, sessionToken)).json.error, 'execution_not_found')
      }
      assert.equal((await ask(link, 'terminate', sessionToken, 'POST')).json.error, 'execution_not_found')
    }
    await world.manage('PUT', `/${id}`, { require_email: false })
    assert.equal(
      (await ask(token, 'status', '')).json.error,
      'execution_not_found',
      'of a link that was opened since',
    )
    await world.manage('PUT', `/${id}`, { require_email: true })
    assert.equal((await ask(token, 'status', ownToken)).json.status, 'running')
    const body = { session_token: ownToken }
    const stop = await world.visit('POST', `/executions/${token}/${execution_id}/terminate`, body)
    assert.deepEqual([stop.status, stop.json.execution_id], [200, execution_id])
  })

  test('400 email_not_required on an open link; 503 not_configured without mail; 429 after three codes', async () => {
    {
      await using world = await openPublicWorld(open, { hasMail: false })
      const { token } = await world.newLink({ require_email: true })
      const reply = await world.visit('POST', '/verify/request', { token, email: sam })
      assert.deepEqual([reply.status, reply.json.error], [503, 'not_configured'])
    }
    await using world = await openPublicWorld(open)
    const { token: openToken } = await world.newLink()
    for (const [path, body] of [
      ['/verify/request', { token: openToken, email: sam }],
      ['/verify/confirm', { token: openToken, email: sam, code: '1' }],
    ] as const) {
      assert.equal((await world.visit('POST', path, body)).json.error, 'email_not_required')
    }
    const { token } = await world.newLink({ require_email: true })
    const ask = () => world.visit('POST', '/verify/request', { token, email: sam })
    for (let at = 0; at < 3; at += 1) assert.equal((await ask()).status, 200)
    assert.deepEqual([(await ask()).status, (await ask()).json.error], [429, 'rate_limited'])
    const attempt = () => world.visit('POST', '/verify/confirm', { token, email: sam, code: '000' })
    for (let at = 0; at < 5; at += 1) assert.equal((await attempt()).json.error, 'invalid_code')
    assert.equal((await attempt()).json.error, 'too_many_attempts')
  })

  test('a message that was on its way when the owner required an address is refused and costs nothing', async () => {
    await using world = await openPublicWorld(open)
    const { id, token } = await world.newLink()
    const { session_id } = (await world.turn(token, { message: 'one' })).json
    const { publicChat } = world
    const sent = { async_mode: true, files: [] }
    const bodies = [
      { ...sent, message: 'known', session_id },
      { ...sent, message: 'new' },
    ]
    const found = await publicChat.openForMessage(token, '192.0.2.1')
    await world.manage('PUT', `/${id}`, { require_email: true })
    for (const body of bodies)
      await assert.rejects(publicChat.accept(found, body), (error) => isFault(error, 'session_expired'))
    assert.equal((await world.manage('GET', `/${id}`)).json.usage.total_messages, 1)
    assert.equal(await world.waiting(), false, 'no run was queued')
  })

  test('a message of a verified visitor is accepted when the owner opens the link meanwhile', async () => {
    await using world = await openPublicWorld(open)
    const { id, token } = await world.newLink({ require_email: true })
    const session_token = await world.confirm(token, sam)
    const found = await world.publicChat.openForMessage(token, '192.0.2.1')
    await world.manage('PUT', `/${id}`, { require_email: false })
    const body = { message: 'hi', session_token, async_mode: true, files: [] }
    const { visitor } = await world.publicChat.accept(found, body)
    assert.equal(visitor.row.email, sam)
  })

  test('429 above sixty code requests in five minutes from one client, whatever the mail addresses', async () => {
    await using world = await openPublicWorld(open)
    const { token } = await world.newLink({ require_email: true })
    const ask = (at: number, client = `2001:db8::${at}`) => {
      const body = { token, email: `person${at}@example.org` }
      return world.visit('POST', '/verify/request', body, { 'x-forwarded-for': client })
    }
    for (let at = 0; at < 30; at += 1) assert.equal((await ask(at)).status, 200)
    // Look-ups have a limit per minute.
    await world.clock.advance(61)
    for (let at = 30; at < 60; at += 1) assert.equal((await ask(at)).status, 200)
    assert.equal((await ask(60)).json.error, 'rate_limited')
    assert.equal((await ask(61, '192.0.2.1')).status, 200)
    await until(() => world.mail.sent.length === 61, 'the codes were sent')
  })

  test('a code for one link is invalid for another', async () => {
    await using world = await openPublicWorld(open)
    const { token } = await world.newLink({ require_email: true })
    const other = await world.newLink({ require_email: true })
    await world.visit('POST', '/verify/request', { token, email: sam })
    await until(() => world.mail.sent.length > 0, 'the code was sent')
    const code = /\d{6}/.exec(world.mail.sent[0]?.text ?? '')?.[0]
    const elsewhere = await world.visit('POST', '/verify/confirm', { token: other.token, email: sam, code })
    assert.equal(elsewhere.json.error, 'invalid_code')
    assert.equal((await world.visit('POST', '/verify/confirm', { token, email: sam, code })).status, 200)
  })
})
