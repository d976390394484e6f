import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { PlatformCalls } from '@roost/contracts/link/messages'
import { sql } from 'kysely'
import type { FakeAnswers } from '../../ports/agent-link/fake.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { insertRunRecords } from '../../test/history.ts'
import { historyStore } from '../history/index.ts'
import { linkWorkspace } from '../history/test/linked-workspace.ts'
import { type AgentPatch, agentStore } from '../records/index.ts'
import { createShared, openAgents, until } from '../test/world.ts'

const firstStart = 1_767_323_045_678

const ready: FakeAnswers = {
  info: async () =>
    ({
      template_yaml: null,
      metrics_json: null,
      first_start_ms: firstStart,
    }) as PlatformCalls['info']['answer'],
  'credentials.render': async () =>
    ({ ok: true }) as unknown as PlatformCalls['credentials.render']['answer'],
}

const layered = { notes: 'kept', '.env': 'TOKEN=secret', 'project/tls.pem': 'key', 'project/copy': 'key' }

forEachDialect((_, open) => {
  async function openWorld(options: Parameters<typeof openAgents>[1] = {}) {
    const state = { busy: false }
    const world = await openAgents(await open(), {
      shared: createShared({ canLayer: false }),
      ...options,
      needs: {
        contextOf: async (ids) => new Map(ids.map((id) => [id, { busy: state.busy } as never])),
        ...options.needs,
      },
    })
    const owner = await world.person()
    await world.request(owner.key, 'POST', '/api/agents', {
      name: 'ada',
      custom_instructions: 'Be brief.',
      tags: ['research'],
    })
    const source = await world.row('ada')
    const workspaces = [linkWorkspace(world.link, source.id, ready)]
    const [first] = workspaces
    assert.ok(first)
    const write = (name: string, content: string) => {
      mkdirSync(dirname(join(first.home, name)), { recursive: true })
      writeFileSync(join(first.home, name), content)
      first.wrote()
    }
    /** Also for the cache. */
    const change = (patch: AgentPatch) =>
      world.db.atomically(async (tx) => {
        await agentStore(tx).update(source.id, patch)
        world.area.agentRecords.changed(tx, source.id)
      })
    const post = (body: object, { agent = 'ada', key = owner.key, headers = {} } = {}) =>
      world.request(key, 'POST', `/api/agents/${agent}/fork`, body, headers)
    return {
      ...{ world, owner, source, workspaces, state, write, change, post },
      record: async () => (await world.area.history.make(source.id, { reason: () => 'after_run' })).record,
      /** Makes a fork, whose workspace is linked as soon as its row exists. */
      async fork(
        body: { name: string } & Record<string, unknown>,
        answers: FakeAnswers = {},
        options = {},
        prefill = (_home: string) => {},
      ) {
        const pending = post(body, options)
        let isOver = false
        const over = pending.finally(() => {
          isOver = true
        })
        const find = () => agentStore(world.db).byName(body.name)
        await until(async () => isOver || (await find()) !== null, 'the row exists')
        const row = await find()
        const workspace = row && linkWorkspace(world.link, row.id, { ...ready, ...answers })
        if (workspace) {
          workspaces.push(workspace)
          prefill(workspace.home)
        }
        await until(async () => {
          // The short waits for the link and for the agent's program.
          const [next = 1] = world.clock.waits()
          if (next <= 0.1) await world.clock.advance(next)
          return isOver
        }, 'the fork ends')
        return { ...(await over), id: row?.id ?? '', home: workspace?.home ?? '' }
      },
      async [Symbol.asyncDispose]() {
        // The first records of forks end before their workspaces do.
        await world.area.forks.close()
        await world.area.history.restores.close()
        for (const workspace of workspaces) await workspace[Symbol.asyncDispose]()
        await world[Symbol.asyncDispose]()
      },
    }
  }

  test('200 a fork from now has the workspace and the settings of its source, and belongs to the caller', async () => {
    await using t = await openWorld()
    const { world } = t
    t.write('notes/plan', 'now')
    t.write('run.sh', 'echo')
    chmodSync(join(t.workspaces[0]?.home ?? '', 'run.sh'), 0o750)
    symlinkSync('notes/plan', join(t.workspaces[0]?.home ?? '', 'link'))
    mkdirSync(join(t.workspaces[0]?.home ?? '', 'empty'))
    t.write('.env', 'TOKEN=secret')
    t.write('project/copy of .env', 'TOKEN=secret')
    await world.request(t.owner.key, 'PUT', '/api/agents/ada/autonomy', { enabled: false })
    await t.change({ max_parallel_tasks: 7, runtime_model: 'sonnet' })
    const { status, json, home, id } = await t.fork({ name: 'bea' })
    assert.equal(status, 200, JSON.stringify(json))
    assert.equal(readFileSync(join(home, 'notes/plan'), 'utf8'), 'now')
    assert.equal(lstatSync(join(home, 'run.sh')).mode & 0o777, 0o750)
    assert.equal(readlinkSync(join(home, 'link')), 'notes/plan')
    assert.ok(lstatSync(join(home, 'empty')).isDirectory())
    assert.equal(existsSync(join(home, '.env')), false)
    assert.deepEqual(json.warnings, [
      'Credentials and files of the platform were not copied: ".env", "project/copy of .env".',
    ])
    const fork = await world.row('bea')
    assert.deepEqual(
      [
        fork.id,
        fork.owner_id,
        fork.max_parallel_tasks,
        fork.runtime_model,
        fork.custom_instructions,
        fork.tags,
      ],
      [id, t.owner.id, 7, 'sonnet', 'Be brief.', ['research']],
    )
    const details = (await world.request(t.owner.key, 'GET', '/api/agents/bea')).json
    assert.deepEqual(
      [details.forked_from.agent_name, details.forked_from.can_open, details.forked_from.record],
      ['ada', true, fork.forked_from?.record_id],
    )
    assert.equal((await world.request(t.owner.key, 'GET', '/api/agents/ada')).json.forked_from, null)
    assert.equal((await world.eventTypes()).filter((type) => type === 'agent.created').length, 2)
    assert.equal(readFileSync(join(t.workspaces[0]?.home ?? '', '.env'), 'utf8'), 'TOKEN=secret')
  })

  test('where volumes are layered, only credentials and their copies are deleted', async () => {
    await using t = await openWorld({ shared: createShared({ canLayer: true }) })
    for (const [path, content] of Object.entries(layered)) t.write(path, content)
    const { json, home } = await t.fork({ name: 'bea' }, {}, {}, (folder) => {
      mkdirSync(join(folder, 'project'))
      // As the layer of the record, with what the program makes by itself.
      for (const [path, content] of Object.entries({ ...layered, uploads: '' }))
        writeFileSync(join(folder, path), content)
    })
    assert.deepEqual(json.warnings, [
      'Credentials and files of the platform were not copied: ".env", "project/tls.pem", "project/copy".',
    ])
    const left = ['notes', 'uploads', 'project', '.env', 'project/tls.pem', 'project/copy']
    assert.deepEqual(
      left.filter((path) => existsSync(join(home, path))),
      ['notes', 'uploads', 'project'],
    )
    assert.equal(
      t.world.link.calls.some(({ t: call }) => call === 'history.restore.write'),
      false,
    )
  })

  test('what a fork must not get is not read, sealed or unpacked before it is deleted', async () => {
    await using t = await openWorld({ shared: createShared({ canLayer: true }) })
    const { world } = t
    for (const [path, content] of Object.entries(layered)) t.write(path, content)
    const states: (string | undefined)[] = []
    const rowOf = () => agentStore(world.db).byName('bea')
    const { status } = await t.fork(
      { name: 'bea' },
      {
        // The program is connected now, with the whole record in its workspace.
        info: async (request) => {
          world.area.linkConnected((await rowOf())?.id ?? '')
          return ready.info?.(request) ?? assert.fail()
        },
        'credentials.status': async () => {
          states.push((await rowOf())?.state)
          return { files: [], variables: [] } as unknown as PlatformCalls['credentials.status']['answer']
        },
      },
      {},
      (folder) => {
        mkdirSync(join(folder, 'project'))
        for (const [path, content] of Object.entries(layered)) writeFileSync(join(folder, path), content)
      },
    )
    assert.equal(status, 200)
    await until(async () => states.length > 0, 'its credentials are updated once')
    assert.deepEqual(states, ['ready'])
  })

  for (const canLayer of [true, false])
    test(`the first record ${canLayer ? 'compares only what is new' : 'of a copy compares everything'}`, async () => {
      await using t = await openWorld({ shared: createShared({ canLayer }) })
      const { world } = t
      t.write('notes', 'kept')
      await t.fork({ name: 'bea' }, {}, {}, (folder) => writeFileSync(join(folder, 'notes'), 'kept'))
      const { id } = await world.row('bea')
      await until(async () => (await historyStore(world.db).latest(id)) !== null, 'the record exists')
      const scans = world.link.calls.flatMap((call) =>
        call.t === 'history.scan' && call.agentId === id
          ? [call.request as { untouched_since?: number }]
          : [],
      )
      assert.deepEqual(
        scans.map(({ untouched_since }) => untouched_since),
        [canLayer ? firstStart : undefined],
      )
    })

  test('a fork of an old record, of a run, and of a fork; deleting the source does not hurt it', async () => {
    await using t = await openWorld()
    const { world } = t
    t.write('notes', 'old')
    const record = await t.record()
    t.write('notes', 'new')
    const after = await t.record()
    await insertRunRecords(world.db, {
      ...{ execution_id: 'run', agent_id: t.source.id, before_id: record.id, after_id: after.id },
    })
    const text = (home: string) => readFileSync(join(home, 'notes'), 'utf8')
    assert.equal(text((await t.fork({ name: 'a', record: record.id })).home), 'old')
    assert.equal(text((await t.fork({ name: 'b', run: 'run', side: 'before' })).home), 'old')
    assert.equal(text((await t.fork({ name: 'c', run: 'run', side: 'after' })).home), 'new')
    assert.equal((await world.request(t.owner.key, 'DELETE', '/api/agents/ada')).status, 200)
    const second = await t.fork({ name: 'd' }, {}, { agent: 'a' })
    assert.equal(second.status, 200, JSON.stringify(second.json))
    assert.equal(text(second.home), 'old')
    const { forked_from } = (await world.request(t.owner.key, 'GET', '/api/agents/a')).json
    assert.deepEqual([forked_from.agent_name, forked_from.can_open], ['ada', false])
  })

  test('with credentials, their files and bound values come along; the placeholder is the own one', async () => {
    await using t = await openWorld()
    const { world } = t
    t.write('.env', 'TOKEN=secret')
    const bound = { hosts: ['api.example.org'], value: 'bound-canary' }
    await world.request(t.owner.key, 'PUT', '/api/agents/ada/egress/credentials/KEY', bound)
    const without = await t.fork({ name: 'without' })
    assert.deepEqual(
      without.json.warnings.filter((each: string) => each.includes('"KEY"')),
      ['The bound credential "KEY" was not copied.'],
    )
    const credentialsOf = async (name: string) =>
      (await world.request(t.owner.key, 'GET', `/api/agents/${name}/egress`)).json.credentials
    assert.deepEqual(await credentialsOf('without'), [])
    const { home, id, json } = await t.fork({ name: 'with', with_credentials: true })
    assert.deepEqual(json.warnings, [])
    assert.equal(readFileSync(join(home, '.env'), 'utf8'), 'TOKEN=secret')
    const [copied] = await credentialsOf('with')
    const [own] = await credentialsOf('ada')
    assert.deepEqual([copied.name, copied.has_value], ['KEY', true])
    assert.notEqual(copied.placeholder, own.placeholder)
    assert.ok((await world.area.runContexts.secrets(id)).includes('bound-canary'))
  })

  test('a fork has no share, key or SSH key of its source, and keeps its limits and rules', async () => {
    await using t = await openWorld()
    const { world } = t
    await world.request(t.owner.key, 'POST', '/api/agents/ada/share', { email: 'kim@example.org' })
    await world.request(t.owner.key, 'POST', '/api/agents/ada/egress/allow', { host: 'example.org' })
    await world.request(t.owner.key, 'PUT', '/api/agents/ada/history/settings', { undo_failed: true })
    world.platform.disk = 1e9
    await t.change({ disk_quota_bytes: 5e8 })
    const { json } = await t.fork({ name: 'bea' })
    assert.deepEqual(json.warnings, [])
    const fork = await world.row('bea')
    assert.deepEqual([fork.shares, fork.disk_quota_bytes], [[], 5e8])
    assert.notEqual(fork.agent_key_id, (await world.row('ada')).agent_key_id)
    const egress = (await world.request(t.owner.key, 'GET', '/api/agents/bea/egress')).json
    assert.deepEqual(
      egress.allowed.map(({ host }: { host: string }) => host),
      ['example.org'],
    )
    const settings = (await world.request(t.owner.key, 'GET', '/api/agents/bea/history/settings')).json
    assert.equal(settings.undo_failed, true)
    await t.change({ disk_quota_bytes: 0 })
    const large = await t.fork({ name: 'cleo' })
    assert.deepEqual(large.json.warnings, [
      'The disk quota of the source was not copied: only an admin may set it.',
    ])
    assert.equal((await world.row('cleo')).disk_quota_bytes, null)
  })

  test('the warnings name what the record lacks, working runs, and a history that is off', async () => {
    await using t = await openWorld()
    t.write('node_modules/big/index.js', '1')
    // Nobody misses it.
    t.write('.cache/x', '1')
    await t.world.request(t.owner.key, 'PUT', '/api/agents/ada/history/settings', { enabled: false })
    t.state.busy = true
    const { json } = await t.fork({ name: 'bea' })
    assert.deepEqual(json.warnings, [
      'Runs were working during the record: their files may be incomplete.',
      'The history of "ada" is switched off: its runs are not recorded.',
      'These paths are missing in the fork, because the record left them out: "node_modules".',
    ])
  })

  test('a stopped agent is forked from its latest record, and refused without one', async () => {
    await using t = await openWorld()
    t.write('notes', 'recorded')
    const stop = () => t.world.request(t.owner.key, 'POST', '/api/agents/ada/stop')
    await stop()
    const refused = await t.fork({ name: 'bea' })
    assert.deepEqual([refused.status, refused.json.error], [409, 'agent_stopped'])
    await t.world.request(t.owner.key, 'POST', '/api/agents/ada/start')
    const { created_at } = await t.record()
    await stop()
    const { json, home } = await t.fork({ name: 'bea' })
    assert.deepEqual(json.warnings, [
      `Agent "ada" is not running: the fork has its latest record, of ${created_at}.`,
    ])
    assert.equal(readFileSync(join(home, 'notes'), 'utf8'), 'recorded')
  })

  test('409 names a source whose workspace cannot be recorded, and nothing is left', async () => {
    await using t = await openWorld()
    const scans: [FakeAnswers['history.scan'], RegExp][] = [
      [
        () => {
          throw new LinkFault({ code: 'io_error', message: 'The disk failed.' })
        },
        /Agent "ada" reported a fault/,
      ],
      [
        async () => ({ handle: null, base: 'never-made', left_out: { paths: [], count: 0 } }),
        /Agent "ada" sent an invalid answer/,
      ],
    ]
    for (const [scan, words] of scans) {
      t.workspaces.push(linkWorkspace(t.world.link, t.source.id, { ...ready, 'history.scan': scan }))
      const { status, json } = await t.post({ name: 'bea' })
      assert.deepEqual([status, json.error], [409, 'conflict'])
      assert.match(json.detail, words)
      assert.equal(await agentStore(t.world.db).byName('bea'), null)
    }
  })

  test('403 and 404 for everybody but owners and admins; an admin owns the fork', async () => {
    await using t = await openWorld()
    const { world, source } = t
    const sharer = await world.person('creator', 'kim@example.org')
    await world.request(t.owner.key, 'POST', '/api/agents/ada/share', { email: 'kim@example.org' })
    const stranger = await world.person()
    const agentKey = await world.agentKey(source.id)
    const refusals = []
    for (const key of [sharer.key, stranger.key, agentKey]) {
      const { status, json } = await t.post({ name: 'mine' }, { key })
      refusals.push([status, json.error])
    }
    assert.deepEqual(refusals, [
      [403, 'owner_required'],
      [404, 'agent_not_found'],
      [403, 'person_required'],
    ])
    assert.equal(await agentStore(world.db).byName('mine'), null)
    const admin = await world.person('admin')
    const { status } = await t.fork({ name: 'mine' }, {}, { key: admin.key })
    assert.deepEqual([status, (await world.row('mine')).owner_id], [200, admin.id])
  })

  test('names, the quota and idempotency keys count as for a creation', async () => {
    await using t = await openWorld({ quota: 2 })
    for (const [name, error] of [
      ['ada', 'agent_exists'],
      ['slots', 'reserved_agent_name'],
    ])
      assert.equal((await t.post({ name })).json.error, error)
    assert.equal((await t.post({ name: 'x', record: 'none' })).json.error, 'record_not_found')
    assert.equal((await t.post({ name: 'x', run: 'none' })).json.error, 'execution_not_found')
    // Without a limit of its own, a fork of attempts would escape the quota.
    for (const unknown of ['at', 'attempt_set_id', 'owner_id', 'disk_quota_bytes', 'columns'])
      assert.equal((await t.post({ name: 'x', [unknown]: 'now' })).status, 422, unknown)
    const headers = { 'idempotency-key': 'once' }
    const first = await t.fork({ name: 'bea' }, {}, { headers })
    const again = await t.post({ name: 'bea' }, { headers })
    assert.deepEqual(again.json, first.json)
    assert.equal(again.headers['x-idempotent-replay'], 'true')
    assert.equal((await t.post({ name: 'cleo' })).json.error, 'agent_quota_exceeded')
  })

  test('a record that vanishes while a fork is filled fails the fork, which leaves nothing', async () => {
    await using t = await openWorld()
    const { world, source } = t
    t.write('notes', 'old')
    const record = await t.record()
    t.write('notes', 'new')
    await t.record()
    const containers = (await world.containers.list()).length
    const { status, json } = await t.fork(
      { name: 'bea', record: record.id },
      {
        async info() {
          await world.history.remove(Buffer.from(source.id).toString('hex'), [record.id])
          return { template_yaml: null, metrics_json: null } as PlatformCalls['info']['answer']
        },
      },
    )
    assert.deepEqual([status, json.error], [404, 'record_not_found'])
    assert.equal(await agentStore(world.db).byName('bea'), null)
    assert.equal((await world.containers.list()).length, containers)
    const { rows } = await sql`select agent_id from agent_ssh_ports`.execute(world.db.withTables())
    assert.equal(rows.length, 1)
  })

  test('a fork may call what its source may call, as far as the caller has access', async () => {
    await using t = await openWorld()
    const { world, source } = t
    const admin = await world.person('admin')
    await world.request(t.owner.key, 'POST', '/api/agents', { name: 'own' })
    await world.request(admin.key, 'POST', '/api/agents', { name: 'theirs' })
    for (const target of ['own', 'theirs'])
      await world.request(admin.key, 'POST', `/api/agents/ada/permissions/${target}`)
    const { json, id } = await t.fork({ name: 'bea' })
    assert.deepEqual(json.warnings, ['The fork may not call "theirs", to which you have no access.'])
    const edges = await sql<{ target_id: string }>`
      select target_id from agent_permissions where source_id = ${id}`.execute(world.db.withTables())
    assert.deepEqual(
      edges.rows.map(({ target_id }) => target_id),
      [(await world.row('own')).id],
    )
    assert.ok(source.id !== id)
  })
})
