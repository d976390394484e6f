import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { contentVersion, readAgentSource } from './source.ts'

const tree = {
  'agent/package.json': '{}',
  'agent/src/start.ts': 'start()',
  'contracts/src/index.ts': 'export {}',
  'images/agent/Dockerfile': 'FROM x',
  'images/agent/entry.sh': '#!/bin/sh',
}

test('the image contains the agent program, the contracts and its own files, sorted by path', async (t) => {
  const root = await repository(t, tree)
  const files = await readAgentSource(root)
  assert.deepEqual(
    files.map(({ path }) => path),
    [...Object.keys(tree), 'package.json'],
  )
  assert.deepEqual(
    files.filter(({ executable }) => executable).map(({ path }) => path),
    ['images/agent/entry.sh'],
  )
})

test('tests, dependencies and hidden files are excluded', async (t) => {
  const root = await repository(t, {
    ...tree,
    'agent/src/start.test.ts': 'test()',
    'agent/src/runtimes/suite.ts': 'suite()',
    'agent/src/test/broker.ts': 'broker()',
    'contracts/node_modules/zod/index.js': '',
    'agent/.cache': '',
  })
  assert.equal((await readAgentSource(root)).length, Object.keys(tree).length + 1)
})

test('a changed file changes the version, a changed test does not', async (t) => {
  const version = async (files: Record<string, string>) =>
    contentVersion(await readAgentSource(await repository(t, files)), {})
  const before = await version(tree)
  assert.match(before, /^[0-9a-f]{12}$/)
  assert.equal(await version({ ...tree, 'agent/src/start.test.ts': 'other()' }), before)
  assert.notEqual(await version({ ...tree, 'agent/src/start.ts': 'start(2)' }), before)
  assert.notEqual(await version({ ...tree, 'images/agent/Dockerfile': 'FROM y' }), before)
})

test('a moved boundary between two files changes the version', async (t) => {
  const version = async (a: string, b: string) => {
    const files = { ...tree, 'agent/src/a.ts': a, 'agent/src/b.ts': b }
    return contentVersion(await readAgentSource(await repository(t, files)), {})
  }
  assert.notEqual(await version('xy', 'z'), await version('x', 'yz'))
})

test('the order of parameters does not change the version, their values do', () => {
  const version = (parameters: Record<string, string>) => contentVersion([], parameters)
  assert.equal(version({ a: '1', b: '2' }), version({ b: '2', a: '1' }))
  assert.notEqual(version({ a: '1', b: '2' }), version({ a: '2', b: '1' }))
})

async function repository(t: TestContext, files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'roost-source-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return root
}
