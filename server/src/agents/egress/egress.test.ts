import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { until } from '../test/world.ts'
import { egressLogStore } from './store.ts'
import { openEgress, value } from './test/world.ts'

forEachDialect((_, db) => {
  test('off by default: the agent has direct access and there is nothing to show', async () => {
    await using it = await openEgress(db)
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

  test('422 option_not_offered: enforce if the engine cannot close the network; learn still works', async () => {
    await using it = await openEgress(db)
    for (const [fault, message] of [
      ['engine_fault', /has no network from which the platform alone is reached/],
      ['engine_down', /does not answer/],
    ] as const) {
      it.engine.failNext('ensureClosedNetwork', fault)
      const refused = await it.call('PUT', '', { mode: 'enforce' })
      assert.deepEqual([refused.status, refused.json.error], [422, 'option_not_offered'])
      assert.match(refused.json.detail, message)
    }
    assert.equal((await it.call('GET', '')).json.mode, 'off')
    assert.equal((await it.call('PUT', '', { mode: 'learn' })).status, 200)
    assert.equal((await it.call('PUT', '', { mode: 'enforce' })).status, 200)
  })

  test('values injected with hosts are stored in the platform, and later values too', async () => {
    await using it = await openEgress(db)
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
    assert.equal(it.outside.requests[0]?.headers.authorization, 'second-value-canary')
    const short = await inject({ files: { '.env': 'TOKEN=short\n' } })
    assert.deepEqual([short.status, short.json.detail[0].loc], [422, ['body', 'files', '.env', 'TOKEN']])
    const absent = await inject({ files: { '.env': 'A=1\n' }, hosts: { MISSING: ['api.test'] } })
    assert.deepEqual([absent.status, absent.json.detail[0].loc], [422, ['body', 'hosts', 'MISSING']])
    const nothing = await inject({ files: { 'a.pem': 'x' }, hosts })
    assert.deepEqual([nothing.status, nothing.json.detail[0].loc], [422, ['body', 'hosts']])
    const closed = await inject({ files: { '.env': 'A=1\n' }, hosts: { ROOST_X: ['api.test'] } })
    assert.equal(closed.status, 422)
    // Placeholders are not secrets.
    const secrets = await it.area.runContexts.secrets(it.agent.id)
    assert.ok(secrets.includes('second-value-canary') && !secrets.includes(placeholder))
  })

  test('hosts in a template bind values injected later; invalid entries produce warnings', async () => {
    await using it = await openEgress(db)
    const additions = await it.db.atomically((tx) =>
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
    assert.deepEqual(additions.warnings.length, 1)
    const [declared] = (await it.call('GET', '')).json.credentials
    assert.deepEqual([declared.name, declared.source, declared.has_value], ['TOKEN', 'template', false])
    assert.equal(await it.wayOut(), null)
    await it.request(it.session, 'POST', '/api/agents/helper/credentials/inject', {
      files: { '.env': `TOKEN=${value}` },
    })
    assert.doesNotMatch(it.files.get('.env')?.toString() ?? '', /canary/)
    assert.equal((await it.call('GET', '')).json.credentials[0].has_value, true)
  })

  test('a .env without bound variables stays byte for byte, including odd line endings', async () => {
    await using it = await openEgress(db)
    const odd = Buffer.from('A=1\r\nB="x"\r\n\xff', 'latin1')
    it.files.set('.env', odd)
    it.area.linkConnected(it.agent.id)
    await until(() => it.link.calls.some(({ t }) => t === 'credentials.read'), 'the files to be read')
    const body = { files_b64: { '.env': odd.toString('base64') } }
    const reply = await it.request(it.session, 'POST', '/api/agents/helper/credentials/inject', body)
    assert.equal(reply.status, 200)
    assert.deepEqual(it.files.get('.env'), odd)
  })

  test('importing a bundle never writes a bound value into the workspace', async () => {
    await using it = await openEgress(db)
    const call = (path: string, body?: object) =>
      it.request(it.session, 'POST', `/api/agents/helper/credentials/${path}`, body)
    await call('inject', { files: { '.env': `TOKEN=${value}\n` } })
    assert.equal((await call('export')).status, 200)
    const { placeholder } = (await it.bind()).json
    assert.equal((await call('import')).status, 200)
    assert.equal(it.files.get('.env')?.toString(), `TOKEN=${placeholder}\n`)
  })

  test('a deleted credential stops working immediately, and its placeholder leaves the workspace', async () => {
    await using it = await openEgress(db)
    const { placeholder } = (await it.bind()).json
    const program = await it.program('both')
    assert.equal((await it.call('DELETE', '/credentials/TOKEN')).status, 200)
    assert.equal((await it.call('DELETE', '/credentials/TOKEN')).status, 404)
    assert.equal(it.files.get('.env')?.toString(), 'TOKEN=\n')
    await program.fetch('api.test', it.outside.port, '/', { headers: { authorization: placeholder } })
    assert.equal(it.outside.requests[0]?.headers.authorization, placeholder)
    assert.equal(await it.wayOut(), null)
  })

  test('422 for invalid bindings: no value, too short, two lines, invalid host', async () => {
    await using it = await openEgress(db)
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

  test('twenty concurrent uses create only one authority', async () => {
    await using it = await openEgress(db)
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

  test("the log keeps an agent's latest thousand entries for thirty days", async () => {
    await using it = await openEgress(db)
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
