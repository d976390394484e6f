import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, rmdirSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { changeTree, randomOf, readTree, type Tree } from '@roost/test-support/trees/random'
import { Fault } from '../../kit/fault.ts'
import { LinkDown } from '../../ports/agent-link/port.ts'
import { fillWorkspace } from './fill.ts'
import { omissionsOf } from './omissions.ts'
import { applyRestore, previewRestore, type RestoreDeps, RestoreUnsettled, restoreEnd } from './restore.ts'
import { targetOf } from './restore-target.ts'
import { storeName } from './rules.ts'
import type { RecordRow } from './tables.ts'
import { createSnapshots, openRestoreWorld } from './test/restore-world.ts'

/** Each has eight random runs. */
const seeds = Number(process.env.ROOST_TEST_RESTORE_SEEDS ?? 25)
const firstSeed = Number(process.env.ROOST_TEST_RESTORE_FIRST_SEED ?? 1)
const largeBytes = 100_000_000
const sorted = (tree: Tree) => [...tree].sort(([a], [b]) => (a < b ? -1 : 1))
const nothing = async () => {}

type World = Awaited<ReturnType<typeof openRestoreWorld>>

/** Fails if a restore left anything in its folder. */
function removeRestores(home: string): void {
  if (existsSync(join(home, '.roost'))) rmdirSync(join(home, '.roost'))
}

async function runSeed(world: World, seed: number, rounds: number, isInMemory: boolean): Promise<void> {
  const t = world.agentAt(`a${seed}`, isInMemory ? createSnapshots() : undefined)
  const random = randomOf(seed)
  const points: { record: string; tree: Tree }[] = []
  for (let round = 0; round < rounds; round += 1) {
    changeTree(t.home, random, 8)
    const { record } = await t.record()
    points.push({ record, tree: readTree(t.home) })
    if (random() < 0.7) continue
    // Some files change between the record and the restore.
    if (random() < 0.3) changeTree(t.home, random, 5)
    const point = points[Math.floor(random() * points.length)]
    assert.ok(point)
    const what = `seed ${seed}, round ${round}, to ${point.record}`
    const end = await applyRestore(t.deps, t.options(point.record), nothing)
    removeRestores(t.home)
    assert.deepEqual(sorted(readTree(t.home)), sorted(point.tree), what)
    assert.deepEqual([end.conflict_count, end.fault], [0, null], what)
  }
  const last = points.at(-1)?.record ?? ''
  const before = readTree(t.home)
  const preview = await previewRestore(t.deps, t.options(last))
  assert.deepEqual(sorted(readTree(t.home)), sorted(before), 'a preview changes nothing')
  const end = await applyRestore(t.deps, t.options(last), nothing)
  removeRestores(t.home)
  for (const key of ['added', 'changed', 'attributes', 'deleted'] as const)
    assert.equal(end[key], preview[key], `seed ${seed}: ${key}`)
  const again = await previewRestore(t.deps, t.options(last))
  assert.deepEqual([again.total, again.changes], [0, []], `seed ${seed}: nothing is left`)
}

test('200 random runs with restores to random points: the tree is byte-equal each time', async () => {
  await using world = await openRestoreWorld()
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) await runSeed(world, seed, 8, true)
})

test('the same with the store of the platform', async () => {
  await using world = await openRestoreWorld()
  for (let seed = 1001; seed < 1001 + Math.ceil(seeds / 10); seed += 1) await runSeed(world, seed, 4, false)
})

test('large binaries come back byte-equal', async () => {
  await using world = await openRestoreWorld()
  const t = world.agentAt('big')
  const path = join(t.home, 'big.bin')
  const digest = () => createHash('sha256').update(readFileSync(path)).digest('hex')
  writeFileSync(path, Buffer.alloc(largeBytes, 'a binary that can be compressed'))
  const first = digest()
  const { record } = await t.record()
  const file = openSync(path, 'r+')
  writeSync(file, 'changed', largeBytes / 2)
  closeSync(file)
  const undo = await t.record()
  const changed = digest()
  await applyRestore(t.deps, t.options(record), nothing)
  assert.equal(digest(), first)
  await applyRestore(t.deps, t.options(undo.record), nothing)
  assert.equal(digest(), changed, 'a restore can be undone')
})

async function setUp() {
  const world = await openRestoreWorld()
  const t = world.agentAt('one')
  for (const name of ['a', 'b', 'secret']) writeFileSync(join(t.home, name), 'recorded')
  const { record: first } = await t.record()
  for (const name of ['a', 'b', 'secret']) writeFileSync(join(t.home, name), 'later')
  const text = (name: string) => readFileSync(join(t.home, name), 'utf8')
  /** Calls of this name fail: before or after the agent has got them. */
  const breaking = (name: string, isDelivered: boolean): RestoreDeps => ({
    ...t.deps,
    link: {
      async call(agentId, call, request) {
        const answer = call !== name || isDelivered ? await t.deps.link.call(agentId, call, request) : null
        if (call === name) throw new LinkDown()
        return answer as never
      },
    },
  })
  return { ...t, world, first, text, breaking, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

test('the record of one agent fills the empty workspace of another', async () => {
  await using t = await setUp()
  const fork = t.world.agentAt('two')
  const end = await applyRestore(
    fork.deps,
    fork.options(t.first, { source: { agent: 'one', record: t.first } }),
    nothing,
  )
  assert.deepEqual([end.outcome, end.added], ['restored', 3])
  removeRestores(fork.home)
  assert.equal(readFileSync(join(fork.home, 'secret'), 'utf8'), 'recorded')
})

test('a link that breaks before the end leaves the old tree, or an open question', async () => {
  await using t = await setUp()
  for (const name of ['history.restore.open', 'history.restore.compare', 'history.restore.write'])
    await assert.rejects(
      applyRestore(t.breaking(name, true), t.options(t.first), nothing),
      (error) => error instanceof Fault && error.code === 'agent_unresponsive',
    )
  assert.equal(t.text('a'), 'later')
  for (const isDelivered of [false, true]) {
    const options = t.options(t.first)
    await assert.rejects(
      applyRestore(t.breaking('history.restore.apply', isDelivered), options, nothing),
      RestoreUnsettled,
    )
    if (!isDelivered) await t.restart()
    const { outcome } = await restoreEnd(t.deps, options)
    assert.equal(outcome, isDelivered ? 'restored' : 'unchanged')
    assert.equal(t.text('a'), isDelivered ? 'recorded' : 'later')
  }
})

test('an agent gets nothing but the selected paths of the record', async () => {
  await using t = await setUp()
  const read: string[] = []
  const deps: RestoreDeps = {
    ...t.deps,
    history: {
      ...t.deps.history,
      readAll(id, items) {
        read.push(...items.map(({ path }) => path))
        return t.deps.history.readAll(id, items)
      },
    },
    link: {
      async call(agentId, call, request) {
        const answer = await t.deps.link.call(agentId, call, request)
        if (call !== 'history.restore.needs') return answer
        return { needs: [{ content: 'a'.repeat(64), path: 'secret' }], total: 1 } as never
      },
    },
  }
  await assert.rejects(
    applyRestore(deps, t.options(t.first, { paths: ['a'] }), nothing),
    (error) => error instanceof Fault && error.code === 'conflict',
  )
  assert.deepEqual([read, t.text('a')], [[], 'later'])
})

for (const isComplete of [false, true])
  test(`a fork gets nothing that was left out of it${isComplete ? ', also as a layer' : ''}`, async () => {
    await using world = await openRestoreWorld()
    const source = world.agentAt(storeName('source'))
    for (const path of ['a', 'secret']) writeFileSync(join(source.home, path), path)
    const { record } = await source.record()
    const fork = world.agentAt('fork')
    const wanted = createHash('sha256').update('blob 6\0secret').digest('hex')
    const link: RestoreDeps['link'] = {
      async call(agentId, call, request) {
        // A hostile program asks for a path that it was not told about.
        if (call === 'history.restore.needs')
          return { needs: [{ content: wanted, path: 'secret' }], total: 1 } as never
        assert.doesNotMatch(JSON.stringify(request), /"data_base64"/)
        const answer = await fork.deps.link.call(agentId, call, request)
        return call === 'history.restore.look' ? { ...answer, added: 1 } : answer
      },
    }
    const row = { id: record, agent_id: 'source', rules: null, left_out: '[]' } as RecordRow
    await assert.rejects(
      fillWorkspace(
        { link, history: world.store, clock: fork.deps.clock },
        {
          ...{ agentId: 'fork', record: row, isComplete },
          omitted: omissionsOf(
            world.store,
            { agent: storeName('source'), record },
            (path) => path !== 'secret',
          ),
        },
      ),
      (error) => error instanceof Fault && error.code === 'conflict',
    )
    assert.deepEqual([...readTree(fork.home).keys()].sort(), [''])
  })

test('a layered fork fails if it would keep what it must not get', async () => {
  await using world = await openRestoreWorld()
  const source = world.agentAt(storeName('source'))
  for (const path of ['a', 'secret']) writeFileSync(join(source.home, path), path)
  const { record } = await source.record()
  const fork = world.agentAt('fork')
  for (const path of ['a', 'secret']) writeFileSync(join(fork.home, path), path)
  const row = { id: record, agent_id: 'source', rules: null, left_out: '[]' } as RecordRow
  const omitted = omissionsOf(
    world.store,
    { agent: storeName('source'), record },
    (path) => path !== 'secret',
  )
  const fillWith = (conflict: object | null) => {
    const link: RestoreDeps['link'] = {
      async call(agentId, call, request) {
        const answer = await fork.deps.link.call(agentId, call, request)
        const ends = call === 'history.restore.look' && 'state' in answer && answer.state === 'restored'
        return ends && conflict ? { ...answer, conflicts: [conflict], conflict_count: 1 } : answer
      },
    }
    return fillWorkspace(
      { link, history: world.store, clock: fork.deps.clock },
      { agentId: 'fork', record: row, isComplete: true, omitted },
    )
  }
  await assert.rejects(
    fillWith({ path: 'secret', reason: 'denied' }),
    /could not be deleted: "secret"\. Delete them in the source/,
  )
  writeFileSync(join(fork.home, 'secret'), 'secret')
  const { conflicts } = await fillWith({ path: 'secret', reason: 'left_out' })
  assert.deepEqual([conflicts, [...readTree(fork.home).keys()].sort()], [['secret'], ['', 'a']])
})

test('a workspace that changes all the time is recorded before each try, and restored at last', async () => {
  await using t = await setUp()
  let records = 0
  let changes = 0
  const deps: RestoreDeps = {
    ...t.deps,
    link: {
      async call(agentId, call, request) {
        changes += 1
        if (call === 'history.restore.apply') writeFileSync(join(t.home, 'b'), `change ${changes}`)
        return t.deps.link.call(agentId, call, request)
      },
    },
  }
  const end = await applyRestore(deps, t.options(t.first), async () => {
    records += 1
    await t.record()
  })
  assert.deepEqual([end.outcome, records, t.text('a'), t.text('b')], ['restored', 3, 'recorded', 'recorded'])
})

test('what the agent already has is known, without a look at every folder', async () => {
  await using t = await setUp()
  const { record } = await t.record()
  const [source, base] = [t.first, record].map((each) => ({ agent: 'one', record: each }))
  assert.ok(source && base)
  const known = async (other: typeof base | null, paths: string[]) => {
    const found: string[] = []
    for await (const each of targetOf(t.world.store, source, other, paths))
      found.push(`${each.path} ${each.known}`)
    return found
  }
  assert.deepEqual(await known(null, ['']), ['a false', 'b false', 'secret false'])
  assert.deepEqual(await known(source, ['']), ['a true', 'b true', 'secret true'])
  assert.deepEqual(await known(base, ['a', 'missing']), ['a false'])
})

test('a restore that would change nothing does nothing', async () => {
  await using t = await setUp()
  await applyRestore(t.deps, t.options(t.first), nothing)
  const end = await applyRestore(t.deps, t.options(t.first), nothing)
  assert.deepEqual([end.outcome, end.fault, end.conflicts], ['unchanged', null, []])
})
