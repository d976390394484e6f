import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { defaultHistoryRules, historyRulesFault } from '@roost/contracts/link/history'
import { changeTree, randomOf, readTree, type Tree } from '@roost/test-support/trees/random'
import { systemClock } from '../kit/clock.ts'
import { createIdentities, readIdentityFacts } from '../processes/identity.ts'
import { makeTestHome } from '../test/home.ts'
import { openBeneath } from './beneath.ts'
import { compareListings } from './compare.ts'
import { createScanner, type Scan, type ScannerDeps } from './scan.ts'

/** Later than every change, so that no entry counts as changed in the tick of the scan. */
const later: ScannerDeps['clock'] = { now: () => Date.now() + 60_000, after: () => () => {} }

function setUp(clock = later) {
  const place = makeTestHome()
  const identities = createIdentities(readIdentityFacts(statSync(place.home)))
  const file = join(place.root, 'program', 'history')
  return { ...place, file, scanner: createScanner({ home: place.home, file, identities, clock }) }
}

/** Applies a scan to the recorded tree, as the platform does. */
async function apply(scan: Scan, before: Tree): Promise<Tree> {
  const tree: Tree = new Map(scan.base === null ? [] : before)
  for (const path of scan.gone) tree.delete(path)
  for (const entry of scan.came) {
    const chunks: Buffer[] = []
    if (entry.kind !== 'folder') for await (const chunk of scan.content(entry)) chunks.push(chunk)
    const content = Buffer.concat(chunks).toString('latin1')
    tree.set(entry.path, { kind: entry.kind, mode: entry.mode, content })
  }
  return tree
}

function startShell(script: string, cwd: string) {
  const child = spawn('/bin/sh', ['-c', `echo; ${script}`], { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
  const closed = new Promise((resolve) => child.once('close', resolve))
  return {
    started: new Promise((resolve) => child.stdout.once('data', resolve)),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

const sorted = (tree: Tree) => [...tree].sort(([a], [b]) => (a < b ? -1 : 1))

test('200 states of random trees: the difference to the last record gives the tree', async () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    using t = setUp()
    const random = randomOf(seed)
    let tree: Tree = new Map()
    let record: string | null = null
    for (let round = 0; round < 4; round += 1) {
      changeTree(t.home, random, 15)
      await using scan = await t.scanner.scan(
        { patterns: [], max_file_bytes: 1e9 },
        record === null ? [] : [record],
      )
      tree = await apply(scan, tree)
      assert.deepEqual(sorted(tree), sorted(readTree(t.home)), `seed ${seed}, round ${round}`)
      record = `record-${round}`
      await scan.commit(record)
    }
    await using scan = await t.scanner.scan(
      { patterns: [], max_file_bytes: 1e9 },
      record === null ? [] : [record],
    )
    assert.deepEqual([scan.gone, scan.came], [[], []], `seed ${seed}: unchanged`)
  }
})

test('an unchanged workspace is neither read nor reported, a changed file alone is', async () => {
  using t = setUp()
  for (let index = 0; index < 300; index += 1) writeFileSync(join(t.home, `f${index}`), `${index}`)
  await using first = await t.scanner.scan(defaultHistoryRules, [])
  assert.equal(first.came.length, 301)
  await first.commit('one')
  appendFileSync(join(t.home, 'f77'), 'more')
  await using second = await t.scanner.scan(defaultHistoryRules, ['one'])
  assert.equal(second.base, 'one')
  assert.deepEqual(
    second.came.map(({ path }) => path),
    ['f77'],
  )
  assert.deepEqual(second.gone, [])
})

test('without a known base, files unchanged since a time are marked, unless a folder above them changed', async () => {
  using t = setUp()
  const at = (path: string) => join(t.home, path)
  for (const folder of ['old/inner', 'moved', 'node_modules']) mkdirSync(at(folder), { recursive: true })
  const paths = ['same', 'changed', 'old/file', 'old/inner/file', 'moved/file', '.hidden', 'node_modules/x']
  for (const path of paths) writeFileSync(at(path), path)
  symlinkSync('same', at('link'))
  // A change in the tick before it counts as one after it.
  const since = lstatSync(at('link')).ctimeMs + 50
  do {
    writeFileSync(at('changed'), 'changed')
  } while (statSync(at('changed')).ctimeMs < since)
  renameSync(at('moved'), at('old/moved'))
  chmodSync(at('.hidden'), 0o600)
  await using scan = await t.scanner.scan(defaultHistoryRules, [], { untouchedSince: since })
  const marked = scan.came.filter(({ untouched }) => untouched).map(({ path }) => path)
  assert.deepEqual(marked.sort(), ['link', 'same'])
  assert.equal(scan.untouchedCount, 2)
  assert.deepEqual(
    scan.came.slice(-2).map(({ untouched }) => untouched),
    [true, true],
  )
  renameSync(at('old/moved'), at('again'))
  await scan.commit('one')
  await using known = await t.scanner.scan(defaultHistoryRules, ['one'], { untouchedSince: since })
  assert.deepEqual(
    known.came.filter(({ untouched }) => untouched),
    [],
  )
  assert.equal(known.untouchedCount, null)
})

test('everything counts as new when the platform has another record, or the index is damaged', async () => {
  using t = setUp()
  writeFileSync(join(t.home, 'a'), '1')
  await using first = await t.scanner.scan(defaultHistoryRules, [])
  await first.commit('one')
  await using other = await t.scanner.scan(defaultHistoryRules, ['two'])
  assert.deepEqual([other.base, other.came.length], [null, 2])
  writeFileSync(t.file, readFileSync(t.file).subarray(0, -3))
  await using damaged = await t.scanner.scan(defaultHistoryRules, ['one'])
  assert.deepEqual([damaged.base, damaged.came.length], [null, 2])
})

test('a scan of the hidden part finds its changes and keeps the rest of the index', async () => {
  using t = setUp()
  for (const folder of ['.cli/sessions', 'folder/.cli', '..odd'])
    mkdirSync(join(t.home, folder), { recursive: true })
  const names = ['.cli/sessions/a', '.rc', '..odd/b', 'folder/.cli/c', 'd']
  for (const name of names) writeFileSync(join(t.home, name), '1')
  await using first = await t.scanner.scan(defaultHistoryRules, [])
  assert.equal(first.came.length, names.length + 6)
  await first.commit('one')
  assert.equal(await t.scanner.isHiddenAsIn('one', defaultHistoryRules), true)
  assert.equal(await t.scanner.isHiddenAsIn('two', defaultHistoryRules), false)
  for (const name of names) appendFileSync(join(t.home, name), '2')
  assert.equal(await t.scanner.isHiddenAsIn('one', defaultHistoryRules), false)
  writeFileSync(join(t.home, '.cli', 'new'), '')
  rmSync(join(t.home, '.rc'))
  const paths = (scan: Scan) => scan.came.map(({ path }) => path).sort()
  await using hidden = await t.scanner.scan(defaultHistoryRules, ['one'], { extent: 'hidden' })
  assert.deepEqual([paths(hidden), hidden.gone], [['..odd/b', '.cli/new', '.cli/sessions/a'], ['.rc']])
  await hidden.commit('two')
  await using all = await t.scanner.scan(defaultHistoryRules, ['two'])
  assert.deepEqual([paths(all), all.gone], [['d', 'folder/.cli/c'], []])
  // Without an index of the record, everything is scanned.
  await using other = await t.scanner.scan(defaultHistoryRules, ['three'], { extent: 'hidden' })
  assert.equal(other.base, null)
  assert.ok(paths(other).includes('d'))
})

test('a change of content with the old size and time is found', async () => {
  using t = setUp()
  const path = join(t.home, 'a')
  writeFileSync(path, '1111')
  const { atime, mtime } = statSync(path)
  await using first = await t.scanner.scan(defaultHistoryRules, [])
  await first.commit('one')
  writeFileSync(path, '2222')
  utimesSync(path, atime, mtime)
  await using second = await t.scanner.scan(defaultHistoryRules, ['one'])
  assert.deepEqual(
    second.came.map(({ path }) => path),
    ['a'],
  )
})

test('a file that changed in the tick of the scan, or while it was read, is looked at again', async () => {
  using t = setUp(systemClock)
  writeFileSync(join(t.home, 'a'), '1')
  await using first = await t.scanner.scan(defaultHistoryRules, [])
  await first.commit('one')
  await using second = await t.scanner.scan(defaultHistoryRules, ['one'])
  const found = second.came.find(({ path }) => path === 'a')
  assert.ok(found)
  // Reading waits for the end of the tick.
  await second.digest(found)
  await second.commit('two')
  await using third = await t.scanner.scan(defaultHistoryRules, ['two'])
  assert.deepEqual(third.came, [])

  using u = setUp()
  writeFileSync(join(u.home, 'b'), '1')
  await using scan = await u.scanner.scan(defaultHistoryRules, [])
  const entry = scan.came.find(({ path }) => path === 'b')
  assert.ok(entry)
  for await (const chunk of scan.content(entry)) {
    assert.equal(String(chunk), '1')
    writeFileSync(join(u.home, 'b'), '2')
  }
  await scan.commit('one')
  await using again = await u.scanner.scan(defaultHistoryRules, ['one'])
  assert.ok(again.came.some(({ path }) => path === 'b'))
})

test("what is left out is named with its reason, and the platform's paths are not part of it", async () => {
  using t = setUp()
  for (const folder of [
    'node_modules/x',
    'deep/node_modules',
    'build/out',
    '.roost/keys',
    '.ssh',
    'shared-in/b',
  ])
    mkdirSync(join(t.home, folder), { recursive: true })
  for (const name of [
    'node_modules/x/a',
    'build/out/b',
    'build/c',
    '.roost/keys/k',
    '.ssh/k',
    'shared-in/b/c',
  ])
    writeFileSync(join(t.home, name), 'x')
  writeFileSync(join(t.home, 'big'), 'x'.repeat(101))
  execFileSync('mkfifo', [join(t.home, 'pipe')])
  const rules = { patterns: ['node_modules', 'build/out'], max_file_bytes: 100 }
  await using scan = await t.scanner.scan(rules, [])
  const paths = scan.leftOut.paths.map(({ path, reason }) => `${path} ${reason}`).sort()
  assert.deepEqual(paths, [
    'big size',
    'build/out rule',
    'deep/node_modules rule',
    'node_modules rule',
    'pipe special',
  ])
  assert.equal(scan.leftOut.count, 5)
  assert.deepEqual(scan.came.map(({ path }) => path).sort(), ['', 'build', 'build/c', 'deep'])
})

test('a new rule removes what it matches from the record', async () => {
  using t = setUp()
  writeFileSync(join(t.home, 'a.log'), '1')
  await using first = await t.scanner.scan({ patterns: [], max_file_bytes: 100 }, [])
  await first.commit('one')
  await using second = await t.scanner.scan({ patterns: ['*.log'], max_file_bytes: 100 }, ['one'])
  assert.deepEqual([second.gone, second.came], [['a.log'], []])
})

test('no link leads outside, whichever part of a path becomes one during the scan', async () => {
  using t = setUp()
  const outside = join(t.root, 'outside')
  mkdirSync(join(outside, 'deep'), { recursive: true })
  for (const name of ['secret', 'deep/secret']) writeFileSync(join(outside, name), 'canary')
  mkdirSync(join(t.home, 'folder', 'deep'), { recursive: true })
  for (const name of ['secret', 'folder/secret', 'folder/deep/secret'])
    writeFileSync(join(t.home, name), 'mine')
  symlinkSync(outside, join(t.home, 'link'))
  await using scan = await t.scanner.scan(defaultHistoryRules, [])
  assert.ok(!scan.came.some(({ path }) => path.startsWith('link/')))
  const entryOf = (name: string) => {
    const found = scan.came.find(({ path }) => path === name)
    assert.ok(found)
    return found
  }
  const swaps: [string, string, string][] = [
    ['secret', join(outside, 'secret'), 'secret'],
    ['folder/deep', join(outside, 'deep'), 'folder/deep/secret'],
    ['folder', outside, 'folder/secret'],
  ]
  for (const [name, target, read] of swaps) {
    rmSync(join(t.home, name), { recursive: true })
    symlinkSync(target, join(t.home, name))
    await assert.rejects(scan.digest(entryOf(read)), { code: /ELOOP|ENOTDIR|ENOENT/ })
  }
  await assert.rejects(
    scan.digest({ ...entryOf('secret'), path: '../outside/secret' }),
    /not part of the scan/,
  )
})

test('a folder that is swapped for a link all the time gives nothing from outside', async () => {
  using t = setUp()
  const outside = join(t.root, 'outside')
  mkdirSync(outside)
  mkdirSync(join(t.home, 'real'))
  for (let index = 0; index < 50; index += 1) {
    writeFileSync(join(outside, `f${index}`), 'canary')
    writeFileSync(join(t.home, 'real', `f${index}`), 'mine')
  }
  symlinkSync(outside, join(t.home, 'other'))
  const script = 'while :; do mv -T real a; mv -T other real; mv -T real other; mv -T a real; done'
  await using swapper = startShell(script, t.home)
  await swapper.started
  let read = 0
  for (let round = 0; round < 8; round += 1) {
    await using scan = await t.scanner.scan(defaultHistoryRules, [])
    for (const entry of scan.came) {
      if (entry.kind !== 'file') continue
      try {
        for await (const chunk of scan.content(entry)) {
          assert.notEqual(String(chunk), 'canary')
          read += 1
        }
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
      }
    }
  }
  assert.ok(read > 0)
})

test('a pipe or a vanished file in place of a file neither blocks nor ends the scan', async () => {
  using t = setUp()
  for (const name of ['a', 'b']) writeFileSync(join(t.home, name), 'x')
  await using scan = await t.scanner.scan(defaultHistoryRules, [])
  rmSync(join(t.home, 'a'))
  execFileSync('mkfifo', [join(t.home, 'a')])
  rmSync(join(t.home, 'b'))
  for (const entry of scan.came.filter(({ kind }) => kind === 'file'))
    await assert.rejects(scan.digest(entry))
  await scan.commit('one')
  rmSync(join(t.home, 'a'))
  writeFileSync(join(t.home, 'a'), 'x')
  await using next = await t.scanner.scan(defaultHistoryRules, ['one'])
  assert.deepEqual([next.came.map(({ path }) => path), next.gone], [['a'], ['b']])
})

test('the digest is the one of git', async () => {
  using t = setUp()
  writeFileSync(join(t.home, 'a'), 'x'.repeat(700_000))
  symlinkSync('a', join(t.home, 'l'))
  await using scan = await t.scanner.scan(defaultHistoryRules, [])
  for (const [name, content] of [
    ['a', 'x'.repeat(700_000)],
    ['l', 'a'],
  ] as const) {
    const entry = scan.came.find(({ path }) => path === name)
    assert.ok(entry)
    const expected = createHash('sha256').update(`blob ${content.length}\0${content}`).digest('hex')
    assert.equal(await scan.digest(entry), expected)
  }
})

test('modes, other names of one file, renames and deletions', async () => {
  using t = setUp()
  for (const name of ['a', 'b', 'c']) writeFileSync(join(t.home, name), name)
  await using first = await t.scanner.scan(defaultHistoryRules, [])
  await first.commit('one')
  chmodSync(join(t.home, 'a'), 0o700)
  renameSync(join(t.home, 'b'), join(t.home, 'd'))
  linkSync(join(t.home, 'a'), join(t.home, 'e'))
  rmSync(join(t.home, 'c'))
  await using second = await t.scanner.scan(defaultHistoryRules, ['one'])
  assert.deepEqual(second.gone.sort(), ['b', 'c'])
  assert.deepEqual(second.came.map(({ path, mode }) => `${path} ${mode.toString(8)}`).sort(), [
    'a 700',
    'd 644',
    'e 700',
  ])
})

test('listings in another order are equal', () => {
  const listing = (lines: string[]) => Buffer.from(lines.map((line) => `${line}\0`).join(''))
  const lines = Array.from({ length: 500 }, (_, index) => `f ${index}`)
  const { gone, came } = compareListings(listing(lines), listing([...lines].reverse()))
  assert.deepEqual([gone, came], [[], []])
  const changed = compareListings(
    listing(lines),
    listing(['first', ...lines.slice(0, 200), ...lines.slice(300)]),
  )
  assert.equal(changed.gone.length, 100)
  assert.deepEqual(changed.came, [{ line: 'first', at: 0 }])
})

test('names that lead upwards are refused', async () => {
  using t = setUp()
  using beneath = openBeneath(t.home)
  for (const path of ['..', '../x', '.', '', 'a/../../x']) assert.throws(() => beneath.open(path))
})

test('rules name the field and the reason', () => {
  assert.equal(historyRulesFault(defaultHistoryRules), null)
  for (const pattern of ['', '/a', 'a/../b', '****a*', 'a\0', 'x'.repeat(201)])
    assert.match(historyRulesFault({ patterns: [pattern], max_file_bytes: 1 }) ?? '', /^"patterns"/)
  assert.match(historyRulesFault({ patterns: [], max_file_bytes: -1 }) ?? '', /^"max_file_bytes"/)
})
