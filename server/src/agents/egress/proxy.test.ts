import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTrap } from '@roost/test-support/inward'
import { createLocate } from '../../kit/addresses.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { createProgram, startGreeter, startRawHost } from './test/outside.ts'
import { connectRaw, openEgress, receivedFrom, value } from './test/world.ts'

forEachDialect((_, db) => {
  test('the real value is sent only to its host; the agent has a placeholder', async () => {
    await using it = await openEgress(db)
    it.files.set('.env', Buffer.from('A=1\nTOKEN=real-value-canary-77\n'))
    const bound = await it.bind()
    assert.equal(bound.status, 200, JSON.stringify(bound.json))
    const { placeholder } = bound.json
    assert.match(placeholder, /^roost-placeholder-[A-Za-z0-9_-]{43}$/)
    assert.equal(it.files.get('.env')?.toString(), `A=1\nTOKEN=${placeholder}\n`)
    assert.ok((await it.area.runContexts.secrets(it.agent.id)).includes(value))

    const program = await it.program('roost')
    const headers = { authorization: `Bearer ${placeholder}` }
    const reply = await program.fetch('api.test', it.outside.port, '/v1?x=1', {
      method: 'POST',
      headers,
      body: placeholder,
    })
    assert.match(reply.issuer, /^Roost egress/)
    const [received] = it.outside.requests
    assert.equal(received?.headers.authorization, `Bearer ${value}`)
    assert.deepEqual([received?.method, received?.url, received?.body], ['POST', '/v1?x=1', placeholder])
    // The host returns the header; the agent must not see its value.
    assert.doesNotMatch(reply.text + JSON.stringify(reply.headers), /canary/)
    assert.equal(reply.headers['x-seen'], `Bearer ${'*'.repeat(value.length)}`)

    // Another host is not intercepted and receives the placeholder.
    const other = await (await it.program('world')).fetch('other.test', it.outside.port, '/', { headers })
    assert.equal(other.status, 200)
    assert.equal(it.outside.requests[1]?.headers.authorization, `Bearer ${placeholder}`)
    await assert.rejects((await it.program('roost')).fetch('other.test', it.outside.port, '/'))

    const [credential] = (await it.call('GET', '')).json.credentials
    await it.area.egress.settled()
    assert.equal(credential.has_value, true)
    assert.ok((await it.call('GET', '')).json.credentials[0].last_used_at)
    for (const path of ['', '/log'])
      assert.doesNotMatch(JSON.stringify((await it.call('GET', path)).json), /canary/)
    // Read directly from the database: the stored value is sealed.
    const rows = await it.db
      .withTables<{ egress_credentials: { value_sealed: string } }>()
      .selectFrom('egress_credentials')
      .selectAll()
      .execute()
    assert.doesNotMatch(JSON.stringify(rows), /canary/)
  })

  test('queries are filled only if configured, compressed responses are searched, upgrades keep working', async () => {
    await using it = await openEgress(db)
    const { placeholder } = (await it.bind({ places: ['header', 'query'] })).json
    const program = await it.program('roost')
    await program.fetch('api.test', it.outside.port, `/x?key=${placeholder}`)
    assert.equal(it.outside.requests[0]?.url, `/x?key=${value}`)
    assert.equal(it.outside.requests[0]?.headers['accept-encoding'], 'identity')
    const headers = { authorization: placeholder }
    const zipped = await program.fetch('api.test', it.outside.port, '/gzip', { headers })
    assert.equal(JSON.parse(zipped.text).headers.authorization, '*'.repeat(value.length))
    assert.equal((await program.fetch('api.test', it.outside.port, '/odd', { headers })).status, 502)
    const head = await program.fetch('api.test', it.outside.port, '/', { method: 'HEAD', headers })
    assert.deepEqual([head.status, head.text], [200, ''])
    const { socket } = await program.dial('api.test', it.outside.port)
    assert.ok(socket)
    socket.write(
      `GET / HTTP/1.1\r\nHost: api.test:${it.outside.port}\r\nConnection: Upgrade\r\nUpgrade: echo\r\nAuthorization: ${placeholder}\r\n\r\n`,
    )
    const output = receivedFrom(socket)
    await output.until((text) => text.includes(`auth ${'*'.repeat(value.length)}`))
    socket.write('more')
    const text = await output.until((each) => each.endsWith('more'))
    assert.doesNotMatch(text, /canary/)
    socket.destroy()
  })

  test('a connection with very many open requests is ended', async () => {
    await using it = await openEgress(db)
    using silent = await startRawHost(null)
    await it.bind({ hosts: [`api.test:${silent.port}`] })
    const { socket } = await (await it.program('roost')).dial('api.test', silent.port)
    assert.ok(socket)
    socket.on('error', () => {})
    const closed = new Promise<void>((done) => socket.once('close', () => done()))
    socket.resume().write(`GET /x HTTP/1.1\r\nHost: api.test:${silent.port}\r\n\r\n`.repeat(65))
    await closed
  })

  test('502 for a status or reason that cannot be passed on', async () => {
    await using it = await openEgress(db)
    await it.call('PUT', '', { mode: 'learn' })
    const program = await it.program('roost')
    for (const line of ['HTTP/1.1 001 OK', 'HTTP/1.1 200 \x01OK', 'HTTP/1.1 999 Odd']) {
      using host = await startRawHost(`${line}\r\nContent-Length: 0\r\n\r\n`)
      const { status } = await program.plain(`http://odd.test:${host.port}/`)
      assert.equal(status, line.includes('999') ? 999 : 502, line)
    }
  })

  test('a request for another host is not forwarded over the connection of a bound host', async () => {
    await using it = await openEgress(db)
    const { placeholder } = (await it.bind()).json
    const program = await it.program('roost')
    const headers = { authorization: placeholder, host: 'other.test' }
    const reply = await program.fetch('api.test', it.outside.port, '/', { headers })
    assert.equal(reply.status, 421)
    assert.deepEqual(it.outside.requests, [])
    assert.ok((await it.entries()).includes('api.test denied other_host 1'))
  })

  test('a connection cannot be used for another host than its target: checked by the TLS server name', async () => {
    await using it = await openEgress(db)
    await it.bind()
    const { port } = it.outside
    const program = await it.program('both')
    await assert.rejects(program.dial('api.test', port, true, 'other.test'), 'the connection is rejected')
    // Server names are only inspected in mode enforce.
    await it.call('PUT', '', { mode: 'learn' })
    assert.equal((await program.dial('some.test', port, true, 'other.test')).status, 200)
    await it.call('PUT', '', { mode: 'enforce' })
    await it.call('POST', '/allow', { host: 'other.test', port })
    await assert.rejects(program.dial('other.test', port, true, 'evil.test'))
    assert.equal((await program.dial('other.test', port)).status, 200)
    await it.call('POST', '/allow', { host: 'front.test', port })
    const fronted = await program.dial('front.test', port, true, 'evil.test').catch(() => null)
    assert.equal(fronted, null)
    const denied = (await it.entries()).filter((entry: string) => entry.includes('other_host'))
    assert.deepEqual(denied, [
      'api.test denied other_host 1',
      'front.test denied other_host 1',
      'other.test denied other_host 1',
    ])
    assert.deepEqual(it.outside.requests, [])
  })

  test('enforce: servers that speak first and protocols without TLS still work', async () => {
    await using it = await openEgress(db)
    using greeter = await startGreeter()
    await it.call('PUT', '', { mode: 'enforce' })
    await it.call('POST', '/allow', { host: 'mail.test', port: greeter.port })
    const { socket } = await (await it.program()).dial('mail.test', greeter.port, false)
    assert.ok(socket)
    const output = receivedFrom(socket)
    await output.until((text) => text === 'hello\n')
    socket.write('EHLO x')
    await output.until((text) => text.endsWith('EHLO x'))
    socket.destroy()
  })

  test('enforce: denied hosts are rejected, logged and not resolved; allowing one takes one request', async () => {
    await using it = await openEgress(db)
    const put = await it.call('PUT', '', { mode: 'enforce' })
    assert.deepEqual([put.status, put.json.mode, put.json.restart_needed], [200, 'enforce', true])
    const program = await it.program('world')
    for (const _ of [1, 2]) {
      const refused = await program.dial('other.test', it.outside.port)
      assert.deepEqual([refused.status, refused.words], [403, 'Egress: other.test is not allowed'])
    }
    assert.deepEqual(it.lookups, [])
    assert.deepEqual(await it.entries(), ['other.test denied not_listed 2'])
    const before = (await it.call('GET', '/log?decision=denied&limit=1')).json[0]
    assert.equal(before.is_listed, false)
    assert.equal((await it.call('GET', '')).json.denied_last_day, 2)

    const allowed = await it.call('POST', '/allow', { host: before.host, port: before.port })
    assert.deepEqual([allowed.status, allowed.json.created_by], [200, 'owner'])
    const again = await it.call('POST', '/allow', { host: 'OTHER.test', port: before.port })
    assert.equal(again.json.id, allowed.json.id)
    assert.equal((await it.call('GET', '/log?decision=denied')).json[0].is_listed, true)
    assert.equal((await program.fetch('other.test', it.outside.port, '/')).status, 200)

    assert.equal((await it.call('DELETE', `/allow/${allowed.json.id}`)).status, 200)
    assert.equal((await it.call('DELETE', `/allow/${allowed.json.id}`)).status, 404)
    assert.equal((await program.dial('other.test', it.outside.port)).status, 403)
    await it.area.egress.settled()
    const log = await it.call('GET', '/log?limit=1')
    assert.deepEqual([log.json.length, log.headers['x-total-count']], [1, '2'])
  })

  test('learn: everything is allowed and logged; only enforce uses the closed network', async () => {
    await using it = await openEgress(db)
    assert.equal((await it.call('PUT', '', { mode: 'learn' })).json.restart_needed, false)
    const program = await it.program('world')
    assert.equal((await program.fetch('other.test', it.outside.port, '/')).status, 200)
    assert.deepEqual(await it.entries(), ['other.test allowed learnt 1'])
    await it.call('PUT', '', { mode: 'enforce' })
    const owner = (method: string, path: string) =>
      it.request(it.session, method, `/api/agents/helper/${path}`)
    assert.equal((await owner('POST', 'stop')).status, 200)
    assert.equal((await owner('POST', 'start')).status, 200)
    const after = (await it.call('GET', '')).json
    assert.deepEqual([after.restart_needed, after.network.is_closed], [false, true])
    const ssh = await it.request(it.session, 'POST', '/api/agents/helper/ssh-access', {})
    assert.deepEqual([ssh.status, ssh.json.error], [409, 'conflict'])
  })

  test('internal addresses are never connected to, however they are spelled', async () => {
    using trap = await startTrap()
    using trap6 = await startTrap('::1')
    let turn = 0
    const names: Record<string, () => string[]> = {
      'inner.test': () => ['10.0.0.1', '127.0.0.1'],
      'mapped.test': () => ['::ffff:127.0.0.1'],
      'metadata.test': () => ['169.254.169.254'],
      // Returns a public address first, then an internal one: a second lookup would connect inside.
      'rebinding.test': () => (turn++ === 0 ? ['192.0.2.1'] : ['127.0.0.1']),
      'mixed.test': () => ['1.1.1.1', '127.0.0.1'],
      localhost: () => ['127.0.0.1', '::1'],
    }
    const locate = createLocate({ lookup: async (host) => names[host]?.() ?? [] })
    await using it = await openEgress(db, locate)
    await it.call('PUT', '', { mode: 'learn' })
    const program = await it.program('world')
    const { port } = trap
    for (const host of [
      ...[
        '127.0.0.1',
        '127.1',
        '0x7f.1',
        '2130706433',
        '0177.0.0.1',
        '0.0.0.0',
        '10.0.0.1',
        '169.254.169.254',
      ],
      ...[
        '[::1]',
        '[::ffff:127.0.0.1]',
        '[::ffff:7f00:1]',
        '[::127.0.0.1]',
        '[64:ff9b::7f00:1]',
        '[fd00:ec2::254]',
      ],
      ...Object.keys(names),
    ]) {
      const refused = await program.dial(host, host === '[::1]' ? trap6.port : port, false)
      assert.equal(refused.status, 403, host)
      const plain = await program.plain(`http://${host}:${port}/`)
      assert.equal(plain.status, 403, `http ${host}`)
    }
    assert.equal((await program.dial('nowhere.test', port, false)).status, 502)
    for (const text of ['', 'no-port', 'a@127.0.0.1:80', 'x:99999'])
      assert.equal((await connectRaw(it, text)).status, 400, text)
    assert.deepEqual([trap.connections(), trap6.connections()], [0, 0])
    assert.ok((await it.entries()).includes('127.0.0.1 denied inner_address 10'))
  })

  test('a redirect to an internal address is returned to the agent and refused when followed', async () => {
    using trap = await startTrap()
    const locate = createLocate({ lookup: async () => [] })
    let outsidePort = 0
    await using it = await openEgress(db, async (host, port) =>
      host === 'api.test' && port === outsidePort
        ? { ok: true, addresses: ['127.0.0.1'] }
        : locate(host, port),
    )
    outsidePort = it.outside.port
    await it.bind()
    const program = await it.program('both')
    // The redirect is passed through and not followed by the proxy.
    assert.equal((await program.fetch('api.test', outsidePort, '/redirect')).status, 200)
    assert.equal((await program.dial('127.0.0.1', trap.port, false)).status, 403)
    assert.equal(trap.connections(), 0)
  })

  test("407 for a missing ticket, another agent's ticket, and a deleted agent's ticket", async () => {
    await using it = await openEgress(db)
    await it.call('PUT', '', { mode: 'learn' })
    const way = await it.wayOut()
    assert.ok(way)
    const as = (user: string, ticket: string) =>
      createProgram({ port: it.listener.port, user, ticket, trusts: [] }).dial('other.test', 1, false)
    assert.equal((await as('', '')).status, 407)
    assert.equal((await as(way.user, `${way.ticket}x`)).status, 407)
    assert.equal((await as('nobody', way.ticket)).status, 407)
    await it.request(it.session, 'POST', '/api/agents', { name: 'second' })
    const second = await it.row('second')
    assert.equal((await as(second.id, way.ticket)).status, 407)
    await it.request(it.session, 'DELETE', '/api/agents/helper')
    assert.equal((await as(way.user, way.ticket)).status, 407)
    assert.deepEqual(it.lookups, [])
  })

  test('a placeholder of one agent is useless to another', async () => {
    await using it = await openEgress(db)
    const first = (await it.bind()).json
    await it.request(it.session, 'POST', '/api/agents', { name: 'second' })
    const hosts = [`api.test:${it.outside.port}`]
    const own = await it.request(it.session, 'PUT', '/api/agents/second/egress/credentials/TOKEN', {
      hosts,
      value: 'another-value-1',
    })
    assert.notEqual(own.json.placeholder, first.placeholder)
    const second = await it.row('second')
    const way = (await it.area.runContexts.settings(second.id))?.way_out
    assert.ok(way?.authority)
    const program = createProgram({ port: it.listener.port, ...way, trusts: [way.authority] })
    await program.fetch('api.test', it.outside.port, '/', { headers: { authorization: first.placeholder } })
    assert.equal(it.outside.requests[0]?.headers.authorization, first.placeholder)
  })
})
