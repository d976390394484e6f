import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { volumesOf } from '../lifecycle/index.ts'
import { agentStore } from '../records/index.ts'
import { openAgents } from '../test/world.ts'

forEachDialect((_name, open) => {
  /** Ann owns `reader` and `writer`, without permissions between them. */
  async function start() {
    const world = await openAgents(await open())
    const ann = await world.person()
    const ask = (method: string, path: string, body?: unknown, key = ann.key) =>
      world.request(key, method, `/api/agents/${path}`, body)
    const ok = async (method: string, path: string, body?: unknown, key = ann.key) => {
      const reply = await ask(method, path, body, key)
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.json)}`)
      return reply.json
    }
    const create = (name: string, key = ann.key) => world.request(key, 'POST', '/api/agents', { name })
    for (const name of ['reader', 'writer']) assert.equal((await create(name)).status, 200)
    const sharedOf = async (name: string) => volumesOf(await world.row(name)).shared
    return {
      world,
      ann,
      ask,
      ok,
      create,
      sharedOf,
      folders: (name: string, key = ann.key) => ok('GET', `${name}/folders`, undefined, key),
      set: (name: string, body: unknown) => ok('PUT', `${name}/folders`, body),
      grant: () => ok('POST', 'reader/permissions/writer'),
      withdraw: () => ok('DELETE', 'reader/permissions/writer'),
      async restart(name = 'reader') {
        await ok('POST', `${name}/stop`)
        return ok('POST', `${name}/start`)
      },
      /** Volumes of the container that the agent has now. */
      async mounted(name = 'reader') {
        const { container_id } = await world.row(name)
        return (await world.containers.inspect(container_id ?? ''))?.volumes ?? []
      },
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    }
  }
  type It = Awaited<ReturnType<typeof start>>
  const path = '/home/developer/shared-in/writer'
  const folder = { source_agent: 'writer', mount_path: path, access_mode: 'rw' }

  async function grantReading(it: It): Promise<void> {
    await it.set('writer', { expose_enabled: true })
    await it.set('reader', { consume_enabled: true })
    await it.grant()
  }

  test('an agent publishes and consumes nothing by default', async () => {
    await using it = await start()
    assert.deepEqual(await it.folders('reader'), {
      agent_name: 'reader',
      expose_enabled: false,
      consume_enabled: false,
      exposed_volume: null,
      exposed_path: '/home/developer/shared-out',
      consumed_folders: [],
      restart_required: false,
    })
  })

  test('missing fields stay unchanged; a change without effect emits no event; 422 for an empty body', async () => {
    await using it = await start()
    const eventCount = async () =>
      (await it.world.eventTypes()).filter((type) => type === 'agent.settings_changed').length
    const first = await it.set('writer', { expose_enabled: true })
    assert.deepEqual([first.expose_enabled, first.consume_enabled], [true, false])
    assert.equal(first.exposed_volume, await it.sharedOf('writer'))
    const second = await it.set('writer', { consume_enabled: true, expose_enabled: null })
    assert.deepEqual([second.expose_enabled, second.consume_enabled], [true, true])
    await it.set('writer', { consume_enabled: true, expose_enabled: true })
    assert.equal(await eventCount(), 2)
    assert.deepEqual(await it.world.lastEvent('agent.settings_changed'), { setting: 'folders' })
    for (const body of [{}, { expose_enabled: 'yes' }]) {
      assert.equal((await it.ask('PUT', 'writer/folders', body)).json.error, 'validation_error')
    }
  })

  test('a start mounts a folder only if the reader consumes, the publisher exposes and the edge exists', async () => {
    await using it = await start()
    const shared = await it.sharedOf('writer')
    for (const [expose, consume, edge] of allCombinations()) {
      await it.set('writer', { expose_enabled: expose })
      await it.set('reader', { consume_enabled: consume })
      await (edge ? it.grant() : it.withdraw())
      await it.restart()
      const isRead = expose && consume && edge
      assert.equal((await it.mounted()).includes(shared), isRead, `${expose} ${consume} ${edge}`)
      const { consumed_folders, restart_required } = await it.folders('reader')
      const expected = isRead ? [{ ...folder, currently_mounted: true, after_restart: 'mounted' }] : []
      assert.deepEqual([consumed_folders, restart_required], [expected, false])
    }
    assert.ok(!(await it.mounted('writer')).includes(await it.sharedOf('reader')), 'in one direction only')
  })

  test('a running reader keeps its mounts until its next start, which reports the reason for recreation', async () => {
    await using it = await start()
    await grantReading(it)
    const before = await it.folders('reader')
    assert.deepEqual(before.consumed_folders, [
      { ...folder, currently_mounted: false, after_restart: 'mounted' },
    ])
    assert.equal(before.restart_required, true)
    const { needs_recreate, recreate_reasons } = await it.ok('GET', 'reader')
    assert.deepEqual([needs_recreate, recreate_reasons], [true, ['shared_folders']])
    assert.equal((await it.ok('POST', 'reader/start')).recreated, false, 'it is already running')
    await it.ok('POST', 'reader/stop')
    assert.equal((await it.folders('reader')).restart_required, false, 'the next start mounts them')
    const started = await it.ok('POST', 'reader/start')
    assert.deepEqual([started.recreated, started.recreate_reason], [true, 'shared_folders'])
    assert.equal((await it.ok('GET', 'reader')).needs_recreate, false)
  })

  for (const [what, revoke] of [
    ['the edge', (it: It) => it.withdraw()],
    ['the publication', (it: It) => it.set('writer', { expose_enabled: false })],
    ['the consumption', (it: It) => it.set('reader', { consume_enabled: false })],
  ] as const) {
    test(`a start unmounts a folder when ${what} was withdrawn, which is reported until then`, async () => {
      await using it = await start()
      await grantReading(it)
      await it.restart()
      await revoke(it)
      const leaving = await it.folders('reader')
      assert.deepEqual(leaving.consumed_folders, [
        { ...folder, currently_mounted: true, after_restart: 'gone' },
      ])
      assert.equal(leaving.restart_required, true)
      const { consumers } = await it.ok('GET', 'writer/folders/consumers')
      assert.deepEqual(consumers, [
        {
          agent_name: 'reader',
          mount_path: path,
          status: 'running',
          currently_mounted: true,
          after_restart: 'gone',
        },
      ])
      assert.equal((await it.restart()).recreate_reason, 'shared_folders')
      assert.ok(!(await it.mounted()).includes(await it.sharedOf('writer')))
      assert.deepEqual((await it.folders('reader')).consumed_folders, [])
      assert.equal((await it.ok('GET', 'writer/folders/consumers')).count, 0)
    })
  }

  test('available folders are those of agents it may call, even if it does not consume', async () => {
    await using it = await start()
    const available = async () => (await it.ok('GET', 'reader/folders/available')).available_folders
    await it.set('writer', { expose_enabled: true })
    assert.deepEqual(await available(), [])
    await it.grant()
    await it.ok('POST', 'writer/stop')
    assert.deepEqual(await available(), [
      {
        source_agent: 'writer',
        volume_name: await it.sharedOf('writer'),
        mount_path: path,
        source_status: 'stopped',
      },
    ])
    assert.equal((await it.ok('GET', 'writer/folders/consumers')).count, 0)
    await it.set('reader', { consume_enabled: true })
    assert.deepEqual(await it.ok('GET', 'writer/folders/consumers'), {
      source_agent: 'writer',
      consumers: [
        {
          agent_name: 'reader',
          mount_path: path,
          status: 'running',
          currently_mounted: false,
          after_restart: 'mounted',
        },
      ],
      count: 1,
    })
  })

  test('a renamed publisher is mounted under its old name until the reader restarts', async () => {
    await using it = await start()
    await grantReading(it)
    await it.restart()
    await it.ok('PUT', 'writer/rename', { new_name: 'author' })
    const moved = '/home/developer/shared-in/author'
    const { consumed_folders, restart_required } = await it.folders('reader')
    assert.equal(restart_required, true)
    assert.deepEqual(
      consumed_folders.map((row: Record<string, unknown>) => [
        row.source_agent,
        row.mount_path,
        row.currently_mounted,
        row.after_restart,
      ]),
      [
        ['author', moved, false, 'mounted'],
        ['author', path, true, 'gone'],
      ],
    )
    const { consumers } = await it.ok('GET', 'author/folders/consumers')
    assert.deepEqual([consumers[0].mount_path, consumers[0].after_restart], [path, 'mounted'])
    await it.restart()
    assert.deepEqual((await it.folders('reader')).consumed_folders, [
      {
        source_agent: 'author',
        mount_path: moved,
        access_mode: 'rw',
        currently_mounted: true,
        after_restart: 'mounted',
      },
    ])
  })

  test('the folder of a deleted publisher stays until its readers restart', async () => {
    await using it = await start()
    await grantReading(it)
    await it.restart()
    const shared = await it.sharedOf('writer')
    await it.ok('DELETE', 'writer')
    assert.deepEqual((await it.folders('reader')).consumed_folders, [
      { ...folder, currently_mounted: true, after_restart: 'gone' },
    ])
    await it.world.area.lifecycle.repair()
    assert.ok((await it.world.containers.listVolumes()).includes(shared), 'in use')
    assert.equal((await it.create('writer')).status, 200)
    await it.set('writer', { expose_enabled: true })
    await it.restart()
    assert.deepEqual((await it.mounted()).length, 3, 'another agent of the name was granted nothing')
    await it.world.area.lifecycle.repair()
    assert.ok(!(await it.world.containers.listVolumes()).includes(shared))
    assert.deepEqual(await agentStore(it.world.db).leftovers(), [])
  })

  test('deleting a publisher while its reader starts leaves nothing behind', async () => {
    await using it = await start()
    await grantReading(it)
    await it.ok('POST', 'reader/stop')
    const [started, deleted] = await Promise.all([it.ask('POST', 'reader/start'), it.ask('DELETE', 'writer')])
    assert.deepEqual([started.status, deleted.status], [200, 200])
    await it.restart()
    await it.world.area.lifecycle.repair()
    const own = Object.values(volumesOf(await it.world.row('reader')))
    assert.deepEqual((await it.world.containers.listVolumes()).sort(), own.sort())
  })

  test('people other than the owner see only publishers and readers they can access', async () => {
    await using it = await start()
    await grantReading(it)
    await it.restart()
    const ben = await it.world.person()
    for (const name of ['reader', 'writer']) {
      assert.equal((await it.ask('GET', `${name}/folders`, undefined, ben.key)).json.error, 'agent_not_found')
    }
    await it.ok('POST', 'reader/share', { email: ben.email })
    await it.ok('POST', 'writer/share', { email: ben.email })
    assert.equal((await it.folders('reader', ben.key)).consumed_folders.length, 1)
    await it.ok('DELETE', `writer/share/${ben.email}`)
    const visible = await it.folders('reader', ben.key)
    assert.deepEqual([visible.consumed_folders, visible.consume_enabled], [[], true])
    assert.equal((await it.ok('GET', 'reader/folders/available', undefined, ben.key)).count, 0)
    await it.ok('POST', 'writer/share', { email: ben.email })
    await it.ok('DELETE', `reader/share/${ben.email}`)
    assert.equal((await it.ok('GET', 'writer/folders/consumers', undefined, ben.key)).count, 0)
    const change = await it.ask('PUT', 'writer/folders', { expose_enabled: false }, ben.key)
    assert.deepEqual([change.status, change.json.error], [403, 'owner_required'])
  })

  test('the agent itself can read its folders but not change them', async () => {
    await using it = await start()
    await grantReading(it)
    const key = await it.world.agentKey((await it.world.row('reader')).id)
    assert.equal((await it.ok('GET', 'reader/folders/available', undefined, key)).count, 1)
    assert.equal((await it.folders('reader', key)).consumed_folders.length, 1)
    const refused = await it.ask('PUT', 'reader/folders', { consume_enabled: false }, key)
    assert.deepEqual([refused.status, refused.json.error], [403, 'person_required'])
  })

  test("a person whose share of the publisher ends loses its folder at their agents' next start", async () => {
    await using it = await start()
    const ben = await it.world.person()
    assert.equal((await it.create('guest', ben.key)).status, 200)
    await it.set('writer', { expose_enabled: true })
    await it.ok('POST', 'writer/share', { email: ben.email })
    await it.ok('PUT', 'guest/folders', { consume_enabled: true }, ben.key)
    await it.ok('POST', 'guest/permissions/writer', undefined, ben.key)
    assert.equal((await it.folders('guest', ben.key)).consumed_folders.length, 1)
    await it.ok('DELETE', `writer/share/${ben.email}`)
    assert.deepEqual((await it.folders('guest', ben.key)).consumed_folders, [])
  })

  test('none of twenty concurrent changes undoes another', async () => {
    await using it = await start()
    await Promise.all([
      ...Array.from({ length: 10 }, () => it.set('writer', { expose_enabled: true })),
      ...Array.from({ length: 10 }, () => it.set('writer', { consume_enabled: true })),
    ])
    const { expose_enabled, consume_enabled } = await it.folders('writer')
    assert.deepEqual([expose_enabled, consume_enabled], [true, true])
  })
})

function allCombinations(): [boolean, boolean, boolean][] {
  return Array.from({ length: 8 }, (_, bits) => [(bits & 1) > 0, (bits & 2) > 0, (bits & 4) > 0])
}
