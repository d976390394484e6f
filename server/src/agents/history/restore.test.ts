import assert from 'node:assert/strict'
import { existsSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { changeTree, randomOf, readTree, type Tree } from '@roost/test-support/trees/random'
import { applyRestore, previewRestore } from './restore.ts'
import { openRestoreWorld } from './test/restore-world.ts'

/** Each has eight random runs and eight restores. */
const seeds = Number(process.env.ROOST_TEST_RESTORE_SEEDS ?? 25)
const firstSeed = Number(process.env.ROOST_TEST_RESTORE_FIRST_SEED ?? 1)
const sorted = (tree: Tree) => [...tree].sort(([a], [b]) => (a < b ? -1 : 1))
const nothing = async () => {}

test('200 random runs, each followed by a restore to a random point: the tree is byte-equal', async () => {
  await using world = await openRestoreWorld()
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
    const t = world.agentAt(`a${seed}`)
    const random = randomOf(seed)
    const points: { record: string; tree: Tree }[] = []
    for (let round = 0; round < 8; round += 1) {
      changeTree(t.home, random, 20)
      const { record } = await t.record()
      points.push({ record, tree: readTree(t.home) })
      // Some files change between the record and the restore.
      if (random() < 0.3) changeTree(t.home, random, 5)
      const point = points[Math.floor(random() * points.length)]
      assert.ok(point)
      const what = `seed ${seed}, round ${round}, to ${point.record}`
      const preview = await previewRestore(t.deps, t.options(point.record))
      const before = readTree(t.home)
      const end = await applyRestore(t.deps, t.options(point.record), nothing)
      // Fails if anything is left in it.
      if (existsSync(join(t.home, '.roost'))) rmdirSync(join(t.home, '.roost'))
      assert.deepEqual(sorted(readTree(t.home)), sorted(point.tree), what)
      assert.deepEqual([end.conflict_count, end.fault], [0, null], what)
      const isEqual = sorted(before).every(([path, item]) => {
        const other = point.tree.get(path)
        return other && other.kind === item.kind && other.mode === item.mode && other.content === item.content
      })
      assert.equal(preview.total === 0, isEqual && before.size === point.tree.size, what)
      const again = await previewRestore(t.deps, t.options(point.record))
      assert.deepEqual([again.total, again.changes], [0, []], `${what}: nothing is left`)
    }
  }
})
