import assert from 'node:assert/strict'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newId } from '../../kit/ids.ts'
import { ContainerError, type Containers } from '../../ports/containers/port.ts'
import { silentLog } from '../../ports/log.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { storeName } from '../history/index.ts'
import { linkWorkspace } from '../history/test/linked-workspace.ts'
import { type AgentPatch, agentStore } from '../records/index.ts'
import { createShared, openAgents } from '../test/world.ts'
import { NotLayered, requireArchivable } from './archive.ts'
import { createBases } from './bases.ts'
import { baseStore } from './store.ts'

const hour = 3600
const large = Buffer.alloc(33 * 1024 ** 2, 'x')

async function openWorld(open: OpenTestDb, { canLayer = true } = {}) {
  const shared = createShared({ canLayer })
  const db = await open()
  const world = await openAgents(db, { shared, isOnlyMachine: true })
  const owner = await world.person('admin')
  await world.request(owner.key, 'POST', '/api/agents', { name: 'ada' })
  const source = await world.row('ada')
  const workspace = linkWorkspace(world.link, source.id)
  mkdirSync(join(workspace.home, 'folder'))
  const record = async (content: string | Buffer) => {
    writeFileSync(join(workspace.home, 'folder', 'note'), content)
    workspace.wrote()
    return (await world.area.history.make(source.id, { reason: () => 'after_run' })).record.id
  }
  const containers = shared.engine.containers('test')
  const { bases } = world.area
  const fork = (id: string) => ({ name: id, volume_base: `v-${id}`, runtime: source.runtime })
  const start = (record: string, id = newId(), from = bases, agentId = source.id) =>
    from.startFrom({ agentId, record }, fork(id))
  const engineId = (await containers.ping()).id
  return {
    ...{ record, containers, engine: shared.engine, clock: shared.clock, host: world.host },
    home: workspace.home,
    id: source.id,
    /** An agent that was forked from the record, with the workspace that the source has now. */
    async forkOf(record: string) {
      await world.request(owner.key, 'POST', '/api/agents', { name: 'fork' })
      const { id } = await world.row('fork')
      const forked_from = { agent_id: source.id, agent_name: 'ada', record_id: record, record_at: '' }
      await agentStore(world.db).update(id, { forked_from: JSON.stringify(forked_from) })
      const linked = linkWorkspace(world.link, id)
      cpSync(workspace.home, linked.home, { recursive: true })
      linked.wrote()
      const make = () => world.area.history.make(id, { reason: () => 'after_run' })
      return { ...linked, id, record: async () => (await make()).record.id }
    },
    change: (patch: AgentPatch) => agentStore(world.db).update(source.id, patch),
    begin: (record: string) => bases.prepare(source.id, record),
    async prepare(record: string, from = bases, agentId = source.id) {
      const done = from.prepare(agentId, record)
      await shared.clock.advance(10)
      await done
    },
    rows: () => baseStore(world.db).all(engineId),
    byTime: async () =>
      (await baseStore(world.db).all(engineId)).toSorted((a) => (a.on_volume === null ? -1 : 1)),
    forget: (record: string) => world.history.remove(storeName(source.id), [record]),
    start,
    drop: bases.drop,
    workspaceOf: (id: string) => `agent-v-${id}-workspace`,
    volumes: async () =>
      (await containers.listVolumes()).filter((name) => name.startsWith('workspace-base-')),
    collect: async () => {
      const [loop] = bases.loops
      await loop?.run(new AbortController().signal)
    },
    /** Another process of the platform, with another engine adapter. */
    other: (
      over: Partial<Containers>,
      limits: { maxBytes?: number; isWorking?: () => Promise<boolean> } = {},
    ) =>
      createBases({
        ...{ db: world.db, clock: shared.clock, log: silentLog, history: world.history },
        engine: world.area.engine,
        containers: { ...containers, ...over },
        lock: world.area.lifecycle.lock,
        imageFor: world.area.lifecycle.machine.imageFor,
        ...{ host: world.host, maxBytes: 10 * 1024 ** 3, isWorking: async () => false, ...limits },
      }),
    async [Symbol.asyncDispose]() {
      await workspace[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
}

test('what somebody else wrote and runs obey is not layered: only a restore tells the program', async () => {
  const entry = { mode: 0o644, owner: false, sparse: false, content: '' }
  const check = (path: string, owner: boolean, mode = 0o644, kind: 'file' | 'folder' = 'file') =>
    requireArchivable(
      {
        async *walk() {
          yield { entry: { ...entry, path, owner, mode, kind }, size: 0 }
        },
      },
      { agent: 'a', record: 'r' },
    )
  for (const path of ['.claude', '.claude/settings.json', '.env', '.mcp.json', '.roost/setup.sh']) {
    await assert.rejects(check(path, false), NotLayered, path)
    await check(path, true)
  }
  await check('notes/.env.md', false)
  // The program could not delete a credential there.
  await assert.rejects(check(`${'a/'.repeat(500)}tls.pem`, true), NotLayered)
  await assert.rejects(check('folder', false, 0o707, 'folder'), NotLayered)
  await check('folder', false, 0o2770, 'folder')
  for (const mode of [0o4755, 0o2755]) {
    await assert.rejects(check('tool', false, mode), NotLayered)
    await check('tool', true, mode)
  }
})

forEachDialect((_, open) => {
  test('forks of one record share one fill, also at once', async () => {
    await using t = await openWorld(open)
    const record = await t.record('first')
    const ids = ['one', 'two', 'three', 'four']
    assert.deepEqual(
      await Promise.all(ids.map((id) => t.start(record, id))),
      ids.map(() => 'layered'),
    )
    const [base = ''] = await t.volumes()
    assert.deepEqual(await t.volumes(), [base])
    for (const id of ids) assert.equal(t.engine.baseOf(t.workspaceOf(id)), base)
    assert.match(t.engine.archiveOf(base)?.toString('latin1') ?? '', /volume\/folder\/note\0.*first/s)
    await t.start(record, 'later')
    assert.equal((await t.rows()).length, 1)
    const next = await t.record('second')
    await t.start(next, 'next')
    assert.equal((await t.volumes()).length, 2)
  })

  test('a base stays while a workspace needs it, and for some time after', async () => {
    await using t = await openWorld(open)
    await t.start(await t.record('first'), 'one')
    t.clock.advance(7 * hour)
    await t.collect()
    assert.equal((await t.volumes()).length, 1, 'it is in use')
    await t.containers.removeVolume(t.workspaceOf('one'))
    const record = await t.record('second')
    await t.start(record, 'two')
    await t.containers.removeVolume(t.workspaceOf('two'))
    await t.collect()
    assert.equal((await t.volumes()).length, 2, 'the younger one is based on it')
    t.clock.advance(5 * hour)
    await t.start(record, 'three')
    await t.containers.removeVolume(t.workspaceOf('three'))
    t.clock.advance(5 * hour)
    await t.collect()
    assert.equal((await t.volumes()).length, 2, 'the younger one was used again')
    t.clock.advance(2 * hour)
    await t.collect()
    assert.deepEqual([await t.volumes(), await t.rows()], [[], []])
  })

  test('a base that is not needed any more is dropped, unless a workspace needs it', async () => {
    await using t = await openWorld(open)
    const [first, second] = [await t.record('first'), await t.record('second')]
    for (const record of [first, second]) await t.start(record, record)
    await t.drop(second)
    assert.equal((await t.volumes()).length, 2, 'it is in use')
    await t.containers.removeVolume(t.workspaceOf(first))
    await t.drop(first)
    assert.equal((await t.volumes()).length, 2, 'the second one is based on it')
    await t.containers.removeVolume(t.workspaceOf(second))
    await t.drop(second)
    assert.deepEqual(
      (await t.rows()).map(({ record_id }) => record_id),
      [first],
    )
    await t.drop(first)
    assert.deepEqual(await t.volumes(), [])
  })

  test('a large workspace has its base before the first fork, as long as runs change it', async () => {
    await using t = await openWorld(open)
    await t.prepare(await t.record('small'))
    assert.deepEqual(await t.rows(), [], 'its first fork is fast enough')
    const record = await t.record(large)
    await t.prepare(record)
    assert.deepEqual(
      (await t.rows()).map(({ record_id, state }) => [record_id, state]),
      [[record, 'filled']],
    )
    t.clock.advance(4 * hour)
    writeFileSync(join(t.home, 'more'), 'a later run')
    const later = await t.record(large)
    await t.prepare(later)
    assert.equal((await t.rows()).length, 1, 'a fork needs only the difference')
    t.clock.advance(4 * hour)
    await t.collect()
    assert.equal((await t.rows()).length, 1)
    assert.equal(await t.start(later, 'one'), 'layered')
    assert.deepEqual(
      (await t.byTime()).map(({ record_id, on_volume }) => [record_id, on_volume === null]),
      [
        [record, true],
        [later, false],
      ],
    )
    await t.containers.removeVolume(t.workspaceOf('one'))
    t.clock.advance(7 * hour)
    await t.collect()
    await t.collect()
    assert.deepEqual(await t.rows(), [], 'without runs it is removed')
  })

  test('a base is not prepared while a run is working', async () => {
    await using t = await openWorld(open)
    const record = await t.record(large)
    await t.prepare(record, t.other({}, { isWorking: async () => true }))
    assert.deepEqual(await t.rows(), [])
    await t.prepare(record)
    assert.equal((await t.rows()).length, 1)
  })

  test('a fork that comes meanwhile waits for the base that is being prepared', async () => {
    await using t = await openWorld(open)
    const record = await t.record(large)
    await Promise.all([t.prepare(record), t.start(record, 'one')])
    assert.equal((await t.volumes()).length, 1)
  })

  test('a base is not prepared between turns that follow each other', async () => {
    await using t = await openWorld(open)
    const [first, second] = [await t.record(large), await t.record(Buffer.alloc(large.length, 'y'))]
    const early = t.begin(first)
    await t.clock.advance(9)
    const late = t.begin(second)
    await t.clock.advance(9)
    await early
    assert.deepEqual(await t.rows(), [])
    await t.clock.advance(1)
    await late
    assert.deepEqual(
      (await t.rows()).map(({ record_id }) => record_id),
      [second],
    )
  })

  test('no base is prepared of an attempt or at another engine', async () => {
    await using t = await openWorld(open)
    const record = await t.record(large)
    for (const patch of [{ attempt_set_id: 'a-set' }, { attempt_set_id: null, engine_id: 'another' }]) {
      await t.change(patch)
      await t.prepare(record)
      assert.deepEqual(await t.rows(), [])
    }
  })

  test('no base is prepared without room for it, and by no process that is closing', async () => {
    await using t = await openWorld(open)
    const record = await t.record(large)
    const gigabytes = 1024 ** 3
    t.host.set({ disk: { usedBytes: 90 * gigabytes, totalBytes: 100 * gigabytes } })
    await t.prepare(record)
    assert.deepEqual(await t.rows(), [])
    t.host.set({ disk: { usedBytes: 80 * gigabytes, totalBytes: 100 * gigabytes } })
    for (const maxBytes of [0, large.length - 1]) await t.prepare(record, t.other({}, { maxBytes }))
    const closing = t.other({})
    closing.close()
    await t.prepare(record, closing)
    await t.prepare(record)
    assert.deepEqual(await t.rows(), [], 'it is not checked again after each run')
    t.clock.advance(hour)
    await t.prepare(record)
    assert.equal((await t.rows()).length, 1)
  })

  test('a killed fill is never used, and is filled again or removed', async () => {
    await using t = await openWorld(open)
    const [first, second] = [await t.record('first'), await t.record('second')]
    const killed = t.other({
      layers: {
        canUse: async () => true,
        // As a process that is killed: the row and a volume stay.
        async fill(name) {
          await t.containers.createVolume(name, {})
          throw new ContainerError('engine_down', 'killed')
        },
        add: async () => assert.fail('it is not filled'),
      },
      async removeVolume() {
        throw new ContainerError('engine_down', 'killed')
      },
    })
    for (const record of [first, second]) await assert.rejects(t.start(record, 'killed', killed), /killed/)
    assert.deepEqual(
      (await t.rows()).map(({ state }) => state),
      ['filling', 'filling'],
    )
    const [, ...left] = await t.volumes()
    assert.equal(await t.start(first, 'one'), 'layered')
    assert.ok(t.engine.archiveOf(t.engine.baseOf(t.workspaceOf('one')) ?? ''))
    await t.collect()
    assert.equal((await t.volumes()).length, 1)
    assert.ok(!left.some((name) => t.engine.archiveOf(name)))
    assert.deepEqual(
      (await t.rows()).map(({ state, record_id }) => [state, record_id]),
      [['filled', first]],
    )
  })

  test('a later record of an agent is stored as its differences', async () => {
    await using t = await openWorld(open)
    await t.start(await t.record('first'), 'one')
    const second = await t.record('second')
    assert.equal(await t.start(second, 'two'), 'layered')
    const [whole, difference] = await t.byTime()
    assert.deepEqual([whole?.on_volume, difference?.on_volume], [null, whole?.volume])
    const archive = t.engine.archiveOf(difference?.volume ?? '')?.toString('latin1') ?? ''
    assert.match(archive, /volume\/folder\/note\0.*second/s)
    assert.ok((difference?.bytes ?? 0) < (whole?.bytes ?? 0))
    // The whole one stays while the other one needs it.
    await t.containers.removeVolume(t.workspaceOf('one'))
    t.clock.advance(7 * hour)
    await t.collect()
    assert.equal((await t.rows()).length, 2)
    await t.containers.removeVolume(t.workspaceOf('two'))
    await t.collect()
    await t.collect()
    assert.deepEqual([await t.volumes(), await t.rows()], [[], []])
  })

  test('what a fork needs is stored as its differences from the base of its source, and not prepared', async () => {
    await using t = await openWorld(open)
    const first = await t.record(large)
    writeFileSync(join(t.home, 'more'), 'a later run')
    const second = await t.record(large)
    for (const record of [first, second]) assert.equal(await t.start(record, record), 'layered')
    // Its source has the second record, whose base is a difference to that of the first one.
    await using fork = await t.forkOf(second)
    writeFileSync(join(fork.home, 'own'), 'of the fork')
    fork.wrote()
    const record = await fork.record()
    await t.prepare(record, undefined, fork.id)
    assert.equal((await t.rows()).length, 2)
    assert.equal(await t.start(record, 'of-the-fork', undefined, fork.id), 'layered')
    const rows = await t.rows()
    const base = rows.find(({ record_id }) => record_id === record)
    assert.equal(base?.on_volume, rows.find(({ record_id }) => record_id === first)?.volume)
    const archive = t.engine.archiveOf(base?.volume ?? '')?.toString('latin1') ?? ''
    assert.match(archive, /volume\/own\0.*of the fork/s)
    assert.ok(archive.length < 10_000)

    // Without the record of the source there is nothing to compare with.
    await t.forget(first)
    await t.prepare(record, undefined, fork.id)
    const whole = (await t.rows()).filter(({ on_volume }) => on_volume === null)
    assert.deepEqual(
      whole.map(({ agent_id }) => agent_id),
      [t.id],
    )
    writeFileSync(join(fork.home, 'own'), 'changed')
    fork.wrote()
    t.clock.advance(hour)
    const changed = await fork.record()
    await t.prepare(changed, undefined, fork.id)
    assert.equal((await t.rows()).find(({ record_id }) => record_id === changed)?.on_volume, null)
  })

  test('differences from a base that is lost, or whose record was removed, become a whole base', async () => {
    await using t = await openWorld(open)
    const first = await t.record('first')
    await t.start(first, 'one')
    await t.containers.removeVolume(t.workspaceOf('one'))
    for (const name of await t.volumes()) await t.containers.removeVolume(name)
    const second = await t.record('second')
    assert.equal(await t.start(second, 'two'), 'layered')
    assert.deepEqual(
      (await t.rows()).map(({ record_id, on_volume }) => [record_id, on_volume]),
      [[second, null]],
    )
    await t.forget(second)
    const third = await t.record('third')
    assert.equal(await t.start(third, 'three'), 'layered')
    assert.deepEqual(
      (await t.byTime()).map(({ on_volume }) => on_volume),
      [null, null],
    )
  })

  test('a base that the engine has lost is filled again', async () => {
    await using t = await openWorld(open)
    const record = await t.record('first')
    await t.start(record, 'one')
    const [base = ''] = await t.volumes()
    await t.containers.removeVolume(t.workspaceOf('one'))
    await t.containers.removeVolume(base)
    assert.equal(await t.start(record, 'two'), 'layered')
    assert.notEqual(t.engine.baseOf(t.workspaceOf('two')), base)
    assert.equal((await t.rows()).length, 1)
  })

  test('a volume without a row is removed when it is seen again', async () => {
    await using t = await openWorld(open)
    await t.containers.createVolume('workspace-base-probe-1', {})
    await t.containers.createVolume('other', {})
    await t.collect()
    assert.deepEqual(await t.volumes(), ['workspace-base-probe-1'])
    await t.collect()
    assert.deepEqual(await t.volumes(), [])
    assert.ok((await t.containers.listVolumes()).includes('other'))
  })

  test('what cannot be layered leaves nothing behind', async () => {
    await using t = await openWorld(open)
    await assert.rejects(t.start(newId()), /record/i)
    const record = await t.record('first')
    const failing = t.other({
      layers: {
        canUse: async () => true,
        fill: t.containers.layers?.fill ?? assert.fail(),
        async add(name) {
          await t.containers.createVolume(name, {})
          throw new ContainerError('engine_fault', 'no such option')
        },
      },
    })
    assert.equal(await t.start(record, 'one', failing), 'unsupported')
    assert.ok(!(await t.containers.listVolumes()).includes(t.workspaceOf('one')))
    await t.containers.createVolume(t.workspaceOf('two'), {})
    await assert.rejects(t.start(record, 'two'), ContainerError)
    assert.ok((await t.containers.listVolumes()).includes(t.workspaceOf('two')), 'it may be in use')
  })

  test('an engine that always copies has no bases', async () => {
    await using t = await openWorld(open, { canLayer: false })
    assert.equal(await t.start(await t.record('first'), 'one'), 'unsupported')
    assert.deepEqual([await t.volumes(), await t.rows()], [[], []])
    const without = t.other({ layers: undefined })
    assert.equal(await t.start(await t.record('second'), 'one', without), 'unsupported')
    assert.deepEqual(without.loops, [])
  })
})
