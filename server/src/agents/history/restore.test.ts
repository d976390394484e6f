import assert from 'node:assert/strict'
import { existsSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { changeTree, randomOf, readTree, type Tree } from '@roost/test-support/trees/random'
import { applyRestore, previewRestore } from './restore.ts'
import { createSnapshots, openRestoreWorld } from './test/restore-world.ts'

/** Each has eight random runs. */
const seeds = Number(process.env.ROOST_TEST_RESTORE_SEEDS ?? 25)
const firstSeed = Number(process.env.ROOST_TEST_RESTORE_FIRST_SEED ?? 1)
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
    changeTree(t.home, random, 12)
    const { record } = await t.record()
    points.push({ record, tree: readTree(t.home) })
    if (random() < 0.6) continue
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
  for (let seed = 1001; seed < 1001 + Math.ceil(seeds / 10); seed += 1) await runSeed(world, seed, 6, false)
})
