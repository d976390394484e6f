import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createLocate, type Located } from '../../kit/addresses.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { pretendCredentials } from '../test/pretend-credentials.ts'
import { openAgents, until } from '../test/world.ts'
import { egressLogStore } from './store.ts'
import { createProgram, serveProxy, startOutside, startTrap } from './test/outside.ts'

const value = 'real-value-canary-77'

/** An agent with a program that goes out, and a world in which each host is this machine. */
async function open(db: OpenTestDb, locate?: (host: string, port: number) => Promise<Located>) {
  const asked: string[] = []
  const world = await openAgents(await db(), {
    locate: async (host, port) => {
      asked.push(host)
      return locate ? locate(host, port) : { ok: true, addresses: ['127.0.0.1'] }
    },
  })
  // Whoever checks a certificate looks at the clock of the machine.
  world.clock.set(new Date())
  const account = await world.identity.addUser('creator', 'owner')
  const { access_token } = await world.identity.sessions.issue(account, { mode: 'email' })
  assert.equal((await world.request(access_token, 'POST', '/api/agents', { name: 'helper' })).status, 200)
  const agent = await world.row('helper')
  const files = new Map<string, Buffer>()
  world.link.link(agent.id, { ...pretendCredentials(files), settings: () => ({ ok: true }) })
  const outside = await startOutside(['api.test', 'other.test'], (heard) => {
    const headers = { 'x-seen': heard.headers.authorization ?? 'none' }
    const body = JSON.stringify(heard)
    if (heard.url === '/odd') return { headers: { ...headers, 'content-encoding': 'odd' }, body }
    if (heard.url !== '/gzip') return { headers, body }
    return { headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync(body) }
  })
  const listener = await serveProxy(world.area.egress)
  const call = (method: string, path: string, body?: unknown) =>
    world.request(access_token, method, `/api/agents/helper/egress${path}`, body)
  const settings = async () => (await world.area.facts.find(agent.id))?.settings.way_out ?? null
  return {
    ...world,
    agent,
    files,
    outside,
    asked,
    call,
    session: access_token,
    wayOut: settings,
    bind: (more: object = {}) =>
      call('PUT', '/credentials/TOKEN', { hosts: [`api.test:${outside.port}`], value, ...more }),
    /** What is written of where the agent went, as `host decision reason count`. */
    async entries() {
      await world.area.egress.settled()
      const { json } = await call('GET', '/log')
      // biome-ignore lint/suspicious/noExplicitAny: the reply's shape is checked by the server
      return json.map((row: any) => `${row.host} ${row.decision} ${row.reason} ${row.count}`).sort()
    },
    async program(trusts: 'roost' | 'world' | 'both' = 'both') {
      const way = await settings()
      assert.ok(way, 'the agent goes out over the platform')
      const ours = way.authority === null || trusts === 'world' ? [] : [way.authority]
      return createProgram({
        port: listener.port,
        user: way.user,
        ticket: way.ticket,
        trusts: [...ours, ...(trusts === 'roost' ? [] : [outside.certificate])],
      })
    },
    listener,
    async [Symbol.asyncDispose]() {
      listener[Symbol.dispose]()
      await world[Symbol.asyncDispose]()
      await outside[Symbol.asyncDispose]()
    },
  }
}

forEachDialect((_, db) => {
  test('off by default: the agent goes out by itself, and there is nothing to see', async () => {
    await using it = await open(db)
    const { status, json } = await it.call('GET', '')
    assert.equal(status, 200)
    assert.deepEqual(json, {
      agent_name: 'helper',
      mode: 'off',
      restart_needed: false,
      network: { can_close: true, is_closed: false, notes: [] },
      allowed: [],
      credentials: [],
      denied_last_day: 0,
    })
    assert.equal(await it.wayOut(), null)
    assert.deepEqual(await it.entries(), [])
    const tables = it.db.withTables<{ egress_authority: { id: number } }>()
    assert.deepEqual(await tables.selectFrom('egress_authority').selectAll().execute(), [])
  })

  test('the real value is on the wire for its host alone; the agent holds a placeholder', async () => {
    await using it = await open(db)
    it.files.set('.env', Buffer.from('A=1\nTOKEN=real-value-canary-77\n'))
    const bound = await it.bind()
    assert.equal(bound.status, 200, JSON.stringify(bound.json))
    const { placeholder } = bound.json
    assert.match(placeholder, /^roost-placeholder-[A-Za-z0-9_-]{43}$/)
    assert.equal(it.files.get('.env')?.toString(), `A=1\nTOKEN=${placeholder}\n`)
    assert.ok((await it.area.facts.secrets(it.agent.id)).includes(value))

    const program = await it.program('roost')
    const headers = { authorization: `Bearer ${placeholder}` }
    const reply = await program.fetch('api.test', it.outside.port, '/v1?x=1', {
      method: 'POST',
      headers,
      body: placeholder,
    })
    assert.match(reply.issuer, /^Roost egress/)
    const [heard] = it.outside.heard
    assert.equal(heard?.headers.authorization, `Bearer ${value}`)
    assert.deepEqual([heard?.method, heard?.url, heard?.body], ['POST', '/v1?x=1', placeholder])
    // The host shows what it heard; the agent does not learn it so.
    assert.doesNotMatch(reply.text + JSON.stringify(reply.headers), /canary/)
    assert.equal(reply.headers['x-seen'], `Bearer ${'*'.repeat(value.length)}`)

    // Another host: not opened, and the placeholder stays one.
    const other = await (await it.program('world')).fetch('other.test', it.outside.port, '/', { headers })
    assert.equal(other.status, 200)
    assert.equal(it.outside.heard[1]?.headers.authorization, `Bearer ${placeholder}`)
    await assert.rejects((await it.program('roost')).fetch('other.test', it.outside.port, '/'))

    const [credential] = (await it.call('GET', '')).json.credentials
    await it.area.egress.settled()
    assert.equal(credential.has_value, true)
    assert.ok((await it.call('GET', '')).json.credentials[0].last_used_at)
    for (const path of ['', '/log'])
      assert.doesNotMatch(JSON.stringify((await it.call('GET', path)).json), /canary/)
    // The same rights, read as another process would: nothing stands there in plain text.
    const rows = await it.db
      .withTables<{ egress_credentials: { value_sealed: string } }>()
      .selectFrom('egress_credentials')
      .selectAll()
      .execute()
    assert.doesNotMatch(JSON.stringify(rows), /canary/)
  })

  test('a query is filled in only where that was said, compressed answers are searched too, sockets live on', async () => {
    await using it = await open(db)
    const { placeholder } = (await it.bind({ places: ['header', 'query'] })).json
    const program = await it.program('roost')
    await program.fetch('api.test', it.outside.port, `/x?key=${placeholder}`)
    assert.equal(it.outside.heard[0]?.url, `/x?key=${value}`)
    assert.equal(it.outside.heard[0]?.headers['accept-encoding'], 'identity')
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
    const said = heardFrom(socket)
    await said.until((text) => text.includes(`auth ${'*'.repeat(value.length)}`))
    socket.write('more')
    const text = await said.until((each) => each.endsWith('more'))
    assert.doesNotMatch(text, /canary/)
    socket.destroy()
  })

  test('a request for another host is not sent on over a connection of the bound one', async () => {
    await using it = await open(db)
    const { placeholder } = (await it.bind()).json
    const program = await it.program('roost')
    const headers = { authorization: placeholder, host: 'other.test' }
    const reply = await program.fetch('api.test', it.outside.port, '/', { headers })
    assert.equal(reply.status, 421)
    assert.deepEqual(it.outside.heard, [])
    assert.ok((await it.entries()).includes('api.test denied other_host 1'))
  })

  test('enforce: what is not allowed is refused, written down, and not even looked up; one click lets it through', async () => {
    await using it = await open(db)
    const put = await it.call('PUT', '', { mode: 'enforce' })
    assert.deepEqual([put.status, put.json.mode, put.json.restart_needed], [200, 'enforce', true])
    const program = await it.program('world')
    for (const _ of [1, 2]) {
      const refused = await program.dial('other.test', it.outside.port)
      assert.deepEqual([refused.status, refused.words], [403, 'Egress: other.test is not allowed'])
    }
    assert.deepEqual(it.asked, [])
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
    const log = await it.call('GET', '/log?limit=1')
    assert.deepEqual([log.json.length, log.headers['x-total-count']], [1, '2'])
  })

  test('learn: everything goes, and is written down; a container of its own network is for enforce alone', async () => {
    await using it = await open(db)
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

  test('nothing inner is connected to, however it is named', async () => {
    using trap = await startTrap()
    using trap6 = await startTrap('::1')
    let turn = 0
    const names: Record<string, () => string[]> = {
      'inner.test': () => ['10.0.0.1', '127.0.0.1'],
      'mapped.test': () => ['::ffff:127.0.0.1'],
      'metadata.test': () => ['169.254.169.254'],
      // First a good answer, then an inner one: whoever asks twice is led inside.
      'rebinding.test': () => (turn++ === 0 ? ['192.0.2.1'] : ['127.0.0.1']),
      'mixed.test': () => ['1.1.1.1', '127.0.0.1'],
      localhost: () => ['127.0.0.1', '::1'],
    }
    const locate = createLocate({ lookup: async (host) => names[host]?.() ?? [] })
    await using it = await open(db, locate)
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
      assert.equal((await createProgramAt(it, text)).status, 400, text)
    assert.deepEqual([trap.connections(), trap6.connections()], [0, 0])
    assert.ok((await it.entries()).includes('127.0.0.1 denied inner_address 10'))
  })

  test('a redirect to an inner address is the agent’s to follow, and is refused like any other', async () => {
    using trap = await startTrap()
    const locate = createLocate({ lookup: async () => [] })
    let outsidePort = 0
    await using it = await open(db, async (host, port) =>
      host === 'api.test' && port === outsidePort
        ? { ok: true, addresses: ['127.0.0.1'] }
        : locate(host, port),
    )
    outsidePort = it.outside.port
    await it.bind()
    const program = await it.program('both')
    // What the host answers comes back as it is; nothing of it is followed here.
    assert.equal((await program.fetch('api.test', outsidePort, '/redirect')).status, 200)
    assert.equal((await program.dial('127.0.0.1', trap.port, false)).status, 403)
    assert.equal(trap.connections(), 0)
  })

  test('407 for whoever is no agent here: no ticket, another’s, one of an agent that is gone', async () => {
    await using it = await open(db)
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
    assert.deepEqual(it.asked, [])
  })

  test('a placeholder of one agent is worth nothing to another', async () => {
    await using it = await open(db)
    const first = (await it.bind()).json
    await it.request(it.session, 'POST', '/api/agents', { name: 'second' })
    const hosts = [`api.test:${it.outside.port}`]
    const own = await it.request(it.session, 'PUT', '/api/agents/second/egress/credentials/TOKEN', {
      hosts,
      value: 'another-value-1',
    })
    assert.notEqual(own.json.placeholder, first.placeholder)
    const second = await it.row('second')
    const way = (await it.area.facts.find(second.id))?.settings.way_out
    assert.ok(way?.authority)
    const program = createProgram({ port: it.listener.port, ...way, trusts: [way.authority] })
    await program.fetch('api.test', it.outside.port, '/', { headers: { authorization: first.placeholder } })
    assert.equal(it.outside.heard[0]?.headers.authorization, first.placeholder)
  })

  test('what is injected with hosts stays here from then on, and a new value too', async () => {
    await using it = await open(db)
    const inject = (body: object) =>
      it.request(it.session, 'POST', '/api/agents/helper/credentials/inject', body)
    const hosts = { TOKEN: [`api.test:${it.outside.port}`] }
    const one = await inject({ files: { '.env': `A=1\nTOKEN="${value}"\n` }, hosts })
    assert.equal(one.status, 200, JSON.stringify(one.json))
    assert.match(it.files.get('.env')?.toString() ?? '', /^A=1\nTOKEN=roost-placeholder-[\w-]{43}\n$/)
    assert.equal((await inject({ files: { '.env': 'TOKEN=second-value-canary\n' } })).status, 200)
    const placeholder = /^TOKEN=(.*)$/m.exec(it.files.get('.env')?.toString() ?? '')?.[1] ?? ''
    await (await it.program('roost')).fetch('api.test', it.outside.port, '/', {
      headers: { authorization: placeholder },
    })
    assert.equal(it.outside.heard[0]?.headers.authorization, 'second-value-canary')
    const short = await inject({ files: { '.env': 'TOKEN=short\n' } })
    assert.deepEqual([short.status, short.json.detail[0].loc], [422, ['body', 'files', '.env', 'TOKEN']])
    const absent = await inject({ files: { '.env': 'A=1\n' }, hosts: { MISSING: ['api.test'] } })
    assert.deepEqual([absent.status, absent.json.detail[0].loc], [422, ['body', 'hosts', 'MISSING']])
    const nothing = await inject({ files: { 'a.pem': 'x' }, hosts })
    assert.deepEqual([nothing.status, nothing.json.detail[0].loc], [422, ['body', 'hosts']])
    const closed = await inject({ files: { '.env': 'A=1\n' }, hosts: { ROOST_X: ['api.test'] } })
    assert.equal(closed.status, 422)
    // Told for what they are: not secrets.
    const secrets = await it.area.facts.secrets(it.agent.id)
    assert.ok(secrets.includes('second-value-canary') && !secrets.includes(placeholder))
  })

  test('a template’s hosts bind what is injected later; what it says wrongly is told', async () => {
    await using it = await open(db)
    const facts = await it.db.atomically((tx) =>
      it.area.hooks.created(tx, {
        agent: it.agent,
        ownerId: 'x',
        schedules: [],
        skills: [],
        credentialSetup: [
          { name: 'TOKEN', hosts: ['api.test'] },
          { name: 'BAD', hosts: 'no list' },
          { name: 'X' },
        ],
        now: it.clock.now(),
      }),
    )
    assert.deepEqual(facts.warnings.length, 1)
    const [declared] = (await it.call('GET', '')).json.credentials
    assert.deepEqual([declared.name, declared.source, declared.has_value], ['TOKEN', 'template', false])
    assert.equal(await it.wayOut(), null)
    await it.request(it.session, 'POST', '/api/agents/helper/credentials/inject', {
      files: { '.env': `TOKEN=${value}` },
    })
    assert.doesNotMatch(it.files.get('.env')?.toString() ?? '', /canary/)
    assert.equal((await it.call('GET', '')).json.credentials[0].has_value, true)
  })

  test('what nothing is bound in is left byte for byte, odd line ends and all', async () => {
    await using it = await open(db)
    const odd = Buffer.from('A=1\r\nB="x"\r\n\xff', 'latin1')
    it.files.set('.env', odd)
    it.area.linkConnected(it.agent.id)
    await until(() => it.link.asked.some(({ t }) => t === 'credentials.read'), 'the look at the files')
    const body = { files_b64: { '.env': odd.toString('base64') } }
    const reply = await it.request(it.session, 'POST', '/api/agents/helper/credentials/inject', body)
    assert.equal(reply.status, 200)
    assert.deepEqual(it.files.get('.env'), odd)
  })

  test('a bundle brings no value back into the workspace that stays here', async () => {
    await using it = await open(db)
    const call = (path: string, body?: object) =>
      it.request(it.session, 'POST', `/api/agents/helper/credentials/${path}`, body)
    await call('inject', { files: { '.env': `TOKEN=${value}\n` } })
    assert.equal((await call('export')).status, 200)
    const { placeholder } = (await it.bind()).json
    assert.equal((await call('import')).status, 200)
    assert.equal(it.files.get('.env')?.toString(), `TOKEN=${placeholder}\n`)
  })

  test('a credential that is taken away is worth nothing at once, and its placeholder leaves the workspace', async () => {
    await using it = await open(db)
    const { placeholder } = (await it.bind()).json
    const program = await it.program('both')
    assert.equal((await it.call('DELETE', '/credentials/TOKEN')).status, 200)
    assert.equal((await it.call('DELETE', '/credentials/TOKEN')).status, 404)
    assert.equal(it.files.get('.env')?.toString(), 'TOKEN=\n')
    await program.fetch('api.test', it.outside.port, '/', { headers: { authorization: placeholder } })
    assert.equal(it.outside.heard[0]?.headers.authorization, placeholder)
    assert.equal(await it.wayOut(), null)
  })

  test('422 for what cannot be kept: no value yet, too short, of two lines, a host that is none', async () => {
    await using it = await open(db)
    const put = async (body: object, name = 'TOKEN') =>
      (await it.call('PUT', `/credentials/${name}`, body)).status
    const hosts = ['api.test']
    for (const body of [
      { hosts },
      { hosts, value: 'short' },
      { hosts, value: 'two\nlines-of-it' },
      { hosts, value: 'roost-placeholder-x' },
      { hosts: [], value },
      { hosts: ['https://api.test'], value },
      { hosts: ['*.test'], value },
      { hosts: ['api.test:0'], value },
    ]) {
      assert.equal(await put(body), 422, JSON.stringify(body))
    }
    assert.equal(await put({ hosts, value }, 'ANTHROPIC_API_KEY'), 422)
    assert.equal(await put({ hosts, value }, 'no-name'), 422)
    for (const body of [
      { host: 'a/b' },
      { host: '' },
      { host: '*' },
      { host: '*.com' },
      { host: 'a.b', port: 0 },
    ])
      assert.equal((await it.call('POST', '/allow', body)).status, 422, JSON.stringify(body))
  })

  test('twenty that need the authority at once make one', async () => {
    await using it = await open(db)
    await it.bind()
    const all = await Promise.all(Array.from({ length: 20 }, () => it.wayOut()))
    assert.equal(new Set(all.map((way) => way?.authority)).size, 1)
    const rows = await it.db
      .withTables<{ egress_authority: { key_sealed: string; certificate: string } }>()
      .selectFrom('egress_authority')
      .selectAll()
      .execute()
    assert.equal(rows.length, 1)
    assert.doesNotMatch(JSON.stringify(rows), /PRIVATE/)
  })

  test('the log keeps the latest thousand of an agent, for thirty days', async () => {
    await using it = await open(db)
    await it.call('PUT', '', { mode: 'learn' })
    const at = (second: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString()
    await it.db.atomically(async (tx) => {
      const store = egressLogStore(tx)
      const what = { agent_id: it.agent.id, port: 443, decision: 'denied', reason: 'not_listed' } as const
      for (let n = 0; n < 1010; n += 1) await store.add({ ...what, host: `h${n}`, count: 1, at: at(n) })
      await store.trim(it.agent.id, 1000)
    })
    const { headers, json } = await it.call('GET', '/log?limit=1')
    assert.deepEqual([headers['x-total-count'], json[0].host], ['1000', 'h1009'])
    assert.equal(await egressLogStore(it.db).removeBefore(at(1009)), 999)
  })
})

/** What a socket says, as far as it came. */
function heardFrom(socket: NodeJS.ReadableStream) {
  let text = ''
  const waits = new Set<() => void>()
  socket.on('data', (chunk) => {
    text += chunk
    for (const look of waits) look()
  })
  return {
    until: (isSo: (text: string) => boolean) =>
      new Promise<string>((resolve) => {
        const look = () => {
          if (!isSo(text)) return
          waits.delete(look)
          resolve(text)
        }
        waits.add(look)
        look()
      }),
  }
}

/** CONNECT with this as its target. */
async function createProgramAt(it: Awaited<ReturnType<typeof open>>, target: string) {
  const way = await it.wayOut()
  assert.ok(way)
  const { request } = await import('node:http')
  const authorization = `Basic ${Buffer.from(`${way.user}:${way.ticket}`).toString('base64')}`
  const sent = request({
    host: '127.0.0.1',
    port: it.listener.port,
    method: 'CONNECT',
    path: target === '' ? '/' : target,
    headers: { 'proxy-authorization': authorization },
  }).end()
  const [reply, socket] = await once(sent, 'connect')
  socket.destroy()
  return { status: reply.statusCode as number }
}
