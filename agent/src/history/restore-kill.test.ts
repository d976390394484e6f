import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readTree, type Tree } from '@roost/test-support/trees/random'
import { makeTestHome } from '../test/home.ts'
import { restoresAt, workspaceOf } from '../test/restore-driver.ts'
import type { RestoreProgram } from '../test/restore-program.ts'

/** Number of moments at which the program is killed; 0 means all. */
const moments = Number(process.env.ROOST_TEST_RESTORE_KILLS ?? 16)
const program = join(import.meta.dirname, '../test/restore-program.ts')

function makeOld(home: string): void {
  for (const folder of ['deep/er', 'gone/inside', 'swap', 'closed'])
    mkdirSync(join(home, folder), { recursive: true })
  const files = [
    'same',
    'changed',
    'deep/er/changed',
    'gone/inside/file',
    'gone/file',
    'swap/file',
    'mode',
    'to-folder',
  ]
  for (const file of files) writeFileSync(join(home, file), `old ${file}`)
  symlinkSync('same', join(home, 'link'))
  writeFileSync(join(home, 'closed/file'), 'old')
  chmodSync(join(home, 'closed'), 0o555)
}

function makeNew(home: string): void {
  for (const folder of ['deep/er', 'new/.git/objects', 'to-folder', 'empty', 'closed'])
    mkdirSync(join(home, folder), { recursive: true })
  const files = [
    'changed',
    'deep/er/changed',
    'new/file',
    'new/.git/HEAD',
    'swap',
    'mode',
    'to-folder/file',
    '\xff',
  ]
  writeFileSync(join(home, 'same'), 'old same')
  for (const file of files) writeFileSync(Buffer.from(join(home, file), 'latin1'), `new ${file}`)
  writeFileSync(join(home, 'mode'), 'old mode')
  writeFileSync(join(home, 'twice'), 'new changed')
  chmodSync(join(home, 'mode'), 0o750)
  symlinkSync('elsewhere', join(home, 'link'))
  writeFileSync(join(home, 'closed/file'), 'new')
  chmodSync(join(home, 'closed'), 0o500)
}

const sorted = (tree: Tree) => [...tree].sort(([a], [b]) => (a < b ? -1 : 1))

function setUp() {
  const base = makeTestHome()
  const place = {
    home: base.home,
    journal: join(base.root, 'program/restore/journal'),
    index: join(base.root, 'program/index'),
  }
  const target = join(base.root, 'target')
  mkdirSync(target)
  chmodSync(target, 0o755)
  makeNew(target)
  const [oldTree, newTree] = [makeTree(), sorted(readTree(target))]
  const tree = join(base.root, 'tree.json')
  writeFileSync(tree, JSON.stringify(newTree))

  /** Without root, closed folders cannot be removed. */
  function open() {
    execFileSync('chmod', ['-R', 'u+rwX', base.root])
  }

  function makeTree() {
    open()
    rmSync(place.home, { recursive: true })
    rmSync(join(base.root, 'program'), { recursive: true, force: true })
    mkdirSync(place.home)
    chmodSync(place.home, 0o755)
    makeOld(place.home)
    return sorted(readTree(place.home))
  }

  function run(killAt: number | null, isResume = false) {
    const options: RestoreProgram = { place, tree: isResume ? null : tree, killAt }
    const done = spawnSync(process.execPath, [program, JSON.stringify(options)], { encoding: 'utf8' })
    if (done.signal !== 'SIGKILL') assert.equal(done.status, 0, done.stderr)
    return { wasKilled: done.signal === 'SIGKILL', changes: Number(done.stdout) }
  }

  async function settle(what: string): Promise<string> {
    const restores = restoresAt(place)
    await restores.resume()
    const { state, conflicts } = await restores.look('one')
    assert.deepEqual(conflicts, [], what)
    const expected = state === 'restored' ? newTree : oldTree
    assert.deepEqual(sorted(workspaceOf(place.home)), expected, `${what}: ${state}`)
    return state
  }
  return {
    ...{ place, makeTree, run, settle },
    [Symbol.dispose]() {
      open()
      base[Symbol.dispose]()
    },
  }
}

test('after kill -9 at any moment the tree is the old or the new one, and the program says which', async () => {
  using t = setUp()
  const { changes } = t.run(null)
  assert.equal(await t.settle('without a kill'), 'restored')
  assert.ok(changes > 80, `${changes} changes`)
  const step = moments === 0 ? 1 : changes / moments
  const ends = new Map<string, number>()
  let lastPhase = ''
  for (let at = 1; at <= changes; at += step) {
    t.makeTree()
    const moment = Math.floor(at)
    assert.ok(t.run(moment).wasKilled)
    const phase = phaseOf(t.place.journal)
    // The first kill among the steps: its continuation is killed, too.
    if (phase === 'applying' && lastPhase !== 'applying')
      for (const again of [1, 5, 9]) assert.ok(t.run(again, true).wasKilled, `${moment}, again at ${again}`)
    lastPhase = phase
    const state = await t.settle(`killed at ${moment}`)
    if (phase === 'applying') assert.equal(state, 'restored')
    ends.set(state, (ends.get(state) ?? 0) + 1)
  }
  assert.deepEqual([...ends.keys()].sort(), ['discarded', 'restored', 'unknown'])
})

function phaseOf(journal: string): string {
  try {
    return JSON.parse(readFileSync(journal, 'utf8')).phase
  } catch {
    return 'none'
  }
}
