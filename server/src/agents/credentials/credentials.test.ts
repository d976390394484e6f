import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { pretendCredentials } from '../test/pretend-credentials.ts'
import { openAgents, until } from '../test/world.ts'

const yaml = [
  'name: mine',
  'display_name: Mine',
  'description: d',
  'credentials: {env_file: [CRM_TOKEN, OPTIONAL_URL]}',
  'credential_setup:',
  '  - {name: CRM_TOKEN, title: Token, setup_url: "https://crm.example.org/keys"}',
  '  - {name: OPTIONAL_URL, required: false, secret: false, format: url}',
  '  - {name: OTHER, setup_url: "http://u:p@x.example.org", surprise: 1}',
].join('\n')

async function open(db: OpenTestDb) {
  const world = await openAgents(await db())
  const account = await world.identity.addUser('creator', 'owner')
  const { access_token } = await world.identity.sessions.issue(account, { mode: 'email' })
  assert.equal((await world.request(access_token, 'POST', '/api/agents', { name: 'helper' })).status, 200)
  const agent = await world.row('helper')
  const files = new Map<string, Buffer>()
  const foreign = new Set<string>()
  world.link.link(agent.id, pretendCredentials(files, yaml, foreign))
  const call = (method: string, path: string, body?: unknown, key = access_token) =>
    world.request(key, method, `/api/agents/helper/${path}`, body)
  return { ...world, agent, files, foreign, call, session: access_token }
}

forEachDialect((_, db) => {
  test('200 injected values are reported only by name and count as secrets from then on', async () => {
    await using world = await open(db)
    const body = { files: { '.env': 'CRM_TOKEN=tok-canary-1\n' }, files_b64: { 'a.pem': 'QUJD' } }
    const { status, json } = await world.call('POST', 'credentials/inject', body)
    assert.deepEqual([status, json.status, json.files_written], [200, 'success', ['.env', 'a.pem']])
    assert.equal(world.files.get('a.pem')?.toString(), 'ABC')
    assert.ok((await world.area.runContexts.secrets(world.agent.id)).includes('tok-canary-1'))
    const reported = await world.call('GET', 'credentials/status')
    assert.deepEqual(
      [
        reported.json.status,
        reported.json.variables,
        reported.json.credential_count,
        reported.json.files['.env'].exists,
      ],
      ['running', ['CRM_TOKEN'], 2, true],
    )
    for (const text of [JSON.stringify(json), JSON.stringify(reported.json)])
      assert.doesNotMatch(text, /canary/)
    const [row] = await world.db
      .withTables<{ agent_credentials: { secrets_sealed: string } }>()
      .selectFrom('agent_credentials')
      .selectAll()
      .execute()
    assert.doesNotMatch(row?.secrets_sealed ?? assert.fail(), /canary/)
  })

  test('a bundle restores everything, and a workspace that lost its .env gets it automatically', async () => {
    await using world = await open(db)
    await world.call('POST', 'credentials/inject', { files: { '.env': 'CRM_TOKEN=tok-canary-2' } })
    assert.equal((await world.call('POST', 'credentials/import')).json.error, 'bundle_missing')
    const sealed = await world.call('POST', 'credentials/export')
    assert.deepEqual(sealed.json, {
      status: 'success',
      encrypted_file: '.credentials.enc',
      files_exported: 1,
    })
    const bundle = world.files.get('.credentials.enc') ?? assert.fail()
    assert.doesNotMatch(bundle.toString(), /canary/)
    world.files.set('.env', Buffer.alloc(0))
    assert.deepEqual((await world.call('POST', 'credentials/import')).json.files_imported, ['.env'])
    world.files.set('.env', Buffer.alloc(0))
    world.area.linkConnected(world.agent.id)
    await until(() => world.files.get('.env')?.toString() === 'CRM_TOKEN=tok-canary-2', 'the import')
    world.files.set('.credentials.enc', Buffer.from('{"v":1}'))
    const refused = await world.call('POST', 'credentials/import')
    assert.deepEqual([refused.status, refused.json.error], [400, 'bundle_corrupt'])
  })

  test('an automatic import keeps the variables beside those that are bound to a host', async () => {
    await using world = await open(db)
    const env = 'CRM_TOKEN=tok-canary-4\nBOUND_KEY=bound-canary-4\n'
    const hosts = { BOUND_KEY: ['api.example.org'] }
    const { status } = await world.call('POST', 'credentials/inject', { files: { '.env': env }, hosts })
    assert.equal(status, 200)
    const before = world.files.get('.env')?.toString() ?? ''
    assert.match(before, /CRM_TOKEN=tok-canary-4\nBOUND_KEY=roost-placeholder/)
    await world.call('POST', 'credentials/export')
    const statuses = () => world.link.calls.filter(({ t }) => t === 'credentials.status').length
    const asked = statuses()
    world.files.set('.env', Buffer.alloc(0))
    world.area.linkConnected(world.agent.id)
    await until(() => statuses() >= asked + 2, 'the import')
    assert.equal(world.files.get('.env')?.toString(), before)
  })

  test("what somebody else wrote is neither imported nor written back as the owner's", async () => {
    await using world = await open(db)
    await world.call('POST', 'credentials/inject', { files: { '.env': 'CRM_TOKEN=tok-canary-3' } })
    await world.call('POST', 'credentials/export')
    const connected = async () => {
      const before = world.link.calls.filter(({ t }) => t === 'credentials.status').length
      world.area.linkConnected(world.agent.id)
      const statuses = () => world.link.calls.filter(({ t }) => t === 'credentials.status').length
      await until(() => statuses() > before, 'the status')
      await world.call('POST', 'credentials/export')
    }
    world.files.set('.env', Buffer.alloc(0))
    world.foreign.add('.credentials.enc')
    await connected()
    assert.equal(world.files.get('.env')?.length, 0)
    const planted = 'BASH_ENV=/home/developer/.x.sh\nZ=roost-placeholder-x\n'
    world.files.set('.env', Buffer.from(planted))
    world.foreign.add('.env')
    await connected()
    assert.equal(world.files.get('.env')?.toString(), planted)
    world.foreign.clear()
    await connected()
    await until(() => world.files.get('.env')?.toString() !== planted, 'the placeholder to be removed')
  })

  test('409 while the agent is stopped; the start reports the result of the injection', async () => {
    await using world = await open(db)
    const first = await world.call('POST', 'stop')
    assert.equal(first.status, 200)
    for (const path of ['inject', 'export', 'import']) {
      const body = path === 'inject' ? { files: { '.env': 'A=1' } } : undefined
      const reply = await world.call('POST', `credentials/${path}`, body)
      assert.deepEqual([reply.status, reply.json.error], [409, 'agent_stopped'], path)
    }
    assert.equal((await world.call('GET', 'credentials/status')).json.status, 'agent_not_running')
    assert.equal((await world.call('POST', 'start')).json.credentials_injection, 'nothing_to_inject')
    await world.call('POST', 'credentials/inject', { files: { '.env': 'CRM_TOKEN=tok-canary-3' } })
    await world.call('POST', 'stop')
    const started = await world.call('POST', 'start')
    assert.equal(started.json.credentials_injection, 'success')
    assert.equal(started.json.credentials_result.credential_count, 1)
    assert.equal((await world.lastEvent('agent.started')).credentials_injection, 'success')
  })

  test('the checklist reports what is set and declaration errors, only to people', async () => {
    await using world = await open(db)
    await world.call('POST', 'credentials/inject', { files: { '.env': 'CRM_TOKEN=tok-canary-4' } })
    const { json } = await world.call('GET', 'credential-requirements')
    assert.deepEqual(
      json.requirements.map((each: Record<string, unknown>) => [each.name, each.required, each.status]),
      [
        ['CRM_TOKEN', true, 'set'],
        ['OPTIONAL_URL', false, 'missing'],
        ['EXTRA_NAME', 'unknown', 'missing'],
      ],
    )
    assert.equal(json.requirements[0].setup_url_host, 'crm.example.org')
    assert.deepEqual(json.summary, { total: 3, set: 1, missing: 2, unknown: 0, blocking: 0 })
    assert.deepEqual([json.state, json.errors.length], ['declaration_incomplete', 3])
    const { key } = await world.person('admin')
    const refused = await world.call('GET', 'credential-requirements', undefined, key)
    assert.deepEqual([refused.status, refused.json.error], [403, 'human_only'])
    await world.call('POST', 'stop')
    const stopped = await world.call('GET', 'credential-requirements')
    assert.deepEqual([stopped.status, stopped.json.status_source], [200, 'unavailable'])
  })

  test('any user can read the names of suppressed variables; deleting an agent deletes its secrets', async () => {
    await using world = await open(db)
    const { json } = await world.request(world.session, 'GET', '/api/credentials/status')
    for (const name of ['ROOST_*', 'ANTHROPIC_*', 'LD_*']) assert.ok(json.suppressed_env_keys.includes(name))
    await world.call('POST', 'credentials/inject', { files: { '.env': 'CRM_TOKEN=tok-canary-5' } })
    assert.equal((await world.request(world.session, 'DELETE', '/api/agents/helper')).status, 200)
    const rows = await world.db
      .withTables<{ agent_credentials: { agent_id: string } }>()
      .selectFrom('agent_credentials')
      .selectAll()
      .execute()
    assert.deepEqual(rows, [])
  })

  test('twenty concurrent injections: every secret is known', async () => {
    await using world = await open(db)
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        world.call('POST', 'credentials/inject', {
          files: { [`.env.n${index}`]: `K=tok-canary-many-${index}` },
        }),
      ),
    )
    const known = await world.area.runContexts.secrets(world.agent.id)
    for (let index = 0; index < 20; index += 1)
      assert.ok(known.includes(`tok-canary-many-${index}`), `${index}`)
  })
})
