import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findTestFiles, isClusterTest, isReleaseTest } from './test-files.ts'

const files = [
  'server/src/a.test.ts',
  'server/src/kit/b.test.ts',
  'cli/src/test.ts',
  'node_modules/x/c.test.ts',
]

test('without a filter all test files, sorted, without those of dependencies', async (t) => {
  assert.deepEqual(findTestFiles(await repository(t), [], '/'), files.slice(0, 2))
})

test('a filter is a file, a folder relative to the working folder or the repository, or a part of a path', async (t) => {
  const root = await repository(t)
  const found = (filter: string, cwd = '/') => findTestFiles(root, [filter], cwd)
  assert.deepEqual(found('server/src/kit'), ['server/src/kit/b.test.ts'])
  assert.deepEqual(found('kit', join(root, 'server/src')), ['server/src/kit/b.test.ts'])
  assert.deepEqual(found('./a.test.ts', join(root, 'server/src')), ['server/src/a.test.ts'])
  assert.deepEqual(found('b.test'), ['server/src/kit/b.test.ts'])
  assert.deepEqual(found('nothing'), [])
})

test('tests on a cluster are those below their folder', () => {
  assert.equal(isClusterTest('checks/cluster/a.test.ts'), true)
  assert.equal(isClusterTest('checks/clusters.test.ts'), false)
})

test('tests of images and upgrades precede a release; the list of settings is checked each time', () => {
  assert.equal(isReleaseTest('checks/compose/scale.test.ts'), true)
  assert.equal(isReleaseTest('checks/upgrades/rolling.test.ts'), true)
  assert.equal(isReleaseTest('checks/compose/files.test.ts'), false)
  assert.equal(isReleaseTest('checks/compose.test.ts'), false)
})

async function repository(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'roost-files-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  for (const path of files) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), '')
  }
  return root
}
