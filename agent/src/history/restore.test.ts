import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { RestoreTarget } from '@roost/contracts/link/history-restore'
import { readTree, type Tree } from '@roost/test-support/trees/random'
import { createFakeClock } from '../kit/fake-clock.ts'
import { LinkFault } from '../link/link.ts'
import { readerId } from '../processes/identity.ts'
import { watchChanges } from '../test/fs-faults.ts'
import { makeTestHome } from '../test/home.ts'
import { everything, restoresAt, restoreTo, settled, targetOf, workspaceOf } from '../test/restore-driver.ts'
import type { RestoresDeps } from './restore.ts'

let fullFrom = Number.POSITIVE_INFINITY
let changes = 0
await watchChanges((name) => {
  changes += 1
  if (changes < fullFrom || !/mkdir|write|symlink|rename|open/.test(name)) return
  throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
})

function setUp(deps: Partial<RestoresDeps> = {}) {
  const base = makeTestHome()
  const { home, root } = base
  const place = { home, journal: join(root, 'program/restore/journal'), index: join(root, 'program/index') }
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  const text = (path: string) => readFileSync(join(home, path), 'utf8')
  return { ...base, place, write, text, restores: restoresAt(place, deps) }
}

const sorted = (tree: Tree) => [...tree].sort(([a], [b]) => (a < b ? -1 : 1))
const isRoot = process.getuid?.() === 0
const code = (expected: string) => (error: unknown) => error instanceof LinkFault && error.code === expected

test('one file or folder: the rest stays, a missing parent comes back, and what the record lacks goes', async () => {
  using t = setUp()
  for (const path of ['a/one', 'a/two', 'b/deep/three', 'c']) t.write(path, 'recorded')
  chmodSync(join(t.home, 'b'), 0o700)
  const record = readTree(t.home)
  for (const path of ['a/one', 'a/two', 'a/new', 'c']) t.write(path, 'later')
  rmSync(join(t.home, 'b'), { recursive: true })
  const paths = ['a/one', 'a/new', 'b/deep']
  const { state, added, changed, deleted } = await restoreTo(t.restores, record, { paths })
  assert.deepEqual([state, added, changed, deleted], ['restored', 3, 1, 1])
  assert.deepEqual([t.text('a/one'), t.text('a/two'), t.text('c')], ['recorded', 'later', 'later'])
  assert.deepEqual([existsSync(join(t.home, 'a/new')), t.text('b/deep/three')], [false, 'recorded'])
  assert.equal(statSync(join(t.home, 'b')).mode & 0o777, 0o700)
})

test('names that are patterns, or not UTF-8, select only themselves', async () => {
  using t = setUp()
  const others = ['ab', 'b1', 'cd', 'e', 'f/x']
  const names = ['a*', 'b[1]', 'c\\d', '?', 'f/*']
  for (const path of [...names, ...others]) t.write(path, 'recorded')
  const record = readTree(t.home)
  for (const path of [...names, ...others]) t.write(path, 'later')
  const { changed } = await restoreTo(t.restores, record, { paths: names })
  assert.equal(changed, names.length)
  for (const path of names) assert.equal(t.text(path), 'recorded', path)
  for (const path of others) assert.equal(t.text(path), 'later', path)

  const odd = Buffer.concat([Buffer.from(`${t.home}/`), Buffer.from([0x66, 0xff])])
  writeFileSync(odd, 'new')
  const { deleted } = await restoreTo(t.restores, record, { paths: ['f\u00ff'] })
  assert.deepEqual([deleted, existsSync(odd), t.text('e')], [1, false, 'later'])
})

test('what is left out stays, with the folders around it, and is named', async () => {
  using t = setUp()
  t.write('kept', 'recorded')
  const record = readTree(t.home)
  for (const path of ['kept', 'gone/node_modules/x', 'gone/file', 'vendor/x', '.ssh/key'])
    t.write(path, 'later')
  record.set('vendor', { kind: 'file', mode: 0o644, content: 'recorded' })
  record.set('gone', { kind: 'file', mode: 0o644, content: 'recorded' })
  const rules = { patterns: ['node_modules', 'vendor'], max_file_bytes: 1e9 }
  const end = await restoreTo(t.restores, record, { rules })
  assert.equal(end.state, 'restored')
  assert.deepEqual(end.conflicts.map(({ path, reason }) => `${path} ${reason}`).sort(), [
    'gone left_out',
    'gone/node_modules left_out',
    'vendor left_out',
  ])
  assert.deepEqual([...workspaceOf(t.home).keys()].sort(), [
    ...['', '.ssh', '.ssh/key', 'gone', 'gone/node_modules', 'gone/node_modules/x'],
    ...['kept', 'vendor', 'vendor/x'],
  ])
  assert.equal(t.text('kept'), 'recorded')
})

test('paths that the record left out are not touched, although nothing leaves them out now', async () => {
  using t = setUp()
  t.write('kept', 'recorded')
  mkdirSync(join(t.home, 'folder'))
  const record = readTree(t.home)
  for (const path of ['cache/x', 'folder/big', 'new']) t.write(path, 'later')
  await restoreTo(t.restores, record, { leftOut: ['cache', 'folder/big'] })
  assert.deepEqual([t.text('cache/x'), t.text('folder/big')], ['later', 'later'])
  assert.equal(existsSync(join(t.home, 'new')), false)
})

test('a change after the comparison is noticed before anything happens, or overwritten', async () => {
  using t = setUp()
  for (const path of ['a', 'b']) t.write(path, 'recorded')
  const record = readTree(t.home)
  for (const path of ['a', 'b']) t.write(path, 'later')
  const compared = () => t.write('a', 'changed meanwhile')
  const end = await restoreTo(t.restores, record, { compared })
  assert.equal(end.state, 'moved')
  assert.deepEqual([t.text('a'), t.text('b')], ['changed meanwhile', 'later'])
  workspaceOf(t.home)
  assert.equal(
    (await restoreTo(t.restores, record, { compared, overwrite: true, id: 'two' })).state,
    'restored',
  )
  assert.deepEqual([t.text('a'), t.text('b')], ['recorded', 'recorded'])
  const states = await Promise.all(
    ['one', 'two', 'other'].map(async (id) => (await t.restores.look(id)).state),
  )
  assert.deepEqual(states, ['unknown', 'restored', 'unknown'])
})

test('a sparse file gets its holes back', async () => {
  using t = setUp()
  const file = openSync(join(t.home, 'sparse'), 'w')
  ftruncateSync(file, 3_000_000)
  writeSync(file, 'data', 2_000_001)
  closeSync(file)
  const record = readTree(t.home)
  rmSync(join(t.home, 'sparse'))
  await restoreTo(t.restores, record, { change: (entry) => ({ ...entry, sparse: true }) })
  assert.deepEqual(sorted(workspaceOf(t.home)), sorted(record))
  assert.ok(statSync(join(t.home, 'sparse')).blocks * 512 < 100_000)
})

test('a file of another user stays theirs', { skip: !isRoot }, async () => {
  const foreign: boolean[] = []
  using t = setUp({ onRestore: async (hasForeign) => void foreign.push(hasForeign) })
  const [other, owner] = [20_001, statSync(t.home).uid]
  const uidOf = (path: string) => lstatSync(join(t.home, path)).uid
  for (const path of ['theirs', 'gone', 'owners', 'folder/x', 'back']) t.write(path, 'recorded')
  symlinkSync('x', join(t.home, 'link'))
  const record = readTree(t.home)
  for (const path of ['theirs', 'owners', 'back']) t.write(path, 'later')
  for (const path of ['theirs', 'owners', 'folder']) chownSync(join(t.home, path), other, other)
  for (const path of ['gone', 'link']) rmSync(join(t.home, path))
  const theirs = ['theirs', 'gone', 'link', 'back']
  const change = (entry: RestoreTarget) => ({ ...entry, owner: !theirs.includes(entry.path) })
  assert.equal((await restoreTo(t.restores, record, { change })).state, 'restored')
  assert.deepEqual(sorted(workspaceOf(t.home)), sorted(record))
  assert.deepEqual(theirs.map(uidOf), [other, readerId, readerId, readerId])
  // The record has them as the owner's. Their new content is a new file, which nobody else has open.
  assert.deepEqual(['owners', 'folder'].map(uidOf), [owner, owner])
  assert.deepEqual(foreign, [true])
})

test('a folder that is swapped for a link all the time leads nowhere', async () => {
  using t = setUp()
  const outside = join(t.root, 'outside')
  mkdirSync(join(outside, 'deep'), { recursive: true })
  const names = Array.from({ length: 12 }, (_, index) => `f${index}`)
  for (const name of names) writeFileSync(join(outside, 'deep', name), 'outside')
  const before = sorted(readTree(outside))
  const records = ['one', 'two'].map((content) => {
    for (const name of names) t.write(`real/deep/${name}`, content)
    for (const name of names.slice(content === 'one' ? 6 : 0, content === 'one' ? 12 : 6))
      rmSync(join(t.home, 'real/deep', name))
    return readTree(t.home)
  })
  symlinkSync(outside, join(t.home, 'other'))
  const script = 'while :; do mv -T real a; mv -T other real; mv -T real other; mv -T a real; done'
  const swapper = spawn('/bin/sh', ['-c', `echo; ${script}`], {
    cwd: t.home,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const closed = new Promise((resolve) => swapper.once('close', resolve))
  await new Promise((resolve) => swapper.stdout.once('data', resolve))
  try {
    for (let round = 0; round < 8; round += 1) {
      const { state } = await restoreTo(t.restores, records[round % 2] ?? new Map(), { overwrite: true })
      assert.equal(state, 'restored')
      assert.deepEqual(sorted(readTree(outside)), before)
    }
  } finally {
    swapper.kill('SIGKILL')
    await closed
  }
})

/** A restore during which the disk is full from this change on. */
async function restoreOnFullDisk(t: ReturnType<typeof setUp>, record: Tree, from: number) {
  fullFrom = changes + from
  try {
    return await restoreTo(t.restores, record)
  } catch (error) {
    assert.ok(code('io_error')(error))
    return null
  } finally {
    fullFrom = Number.POSITIVE_INFINITY
  }
}

function setUpChanges() {
  const t = setUp()
  for (const path of ['a', 'b/c', 'b/d']) t.write(path, 'recorded')
  symlinkSync('x', join(t.home, 'link'))
  const record = readTree(t.home)
  for (const path of ['a', 'new/x']) t.write(path, 'later')
  for (const path of ['b', 'link']) rmSync(join(t.home, path), { recursive: true })
  return { ...t, record, later: readTree(t.home) }
}

test('a full disk at any moment: the old tree, or the new one once there is space', async () => {
  const ends = new Set<string>()
  for (let from = 1; !ends.has('restored'); from += 3) {
    using t = setUpChanges()
    const end = await restoreOnFullDisk(t, t.record, from)
    ends.add(end?.state ?? 'refused')
    if (end?.state === 'applying') {
      assert.match(end.fault ?? '', /full/)
      assert.equal((await settled(t.restores, 'one')).state, 'restored')
    } else await t.restores.resume()
    const isNew = end?.state === 'applying' || end?.state === 'restored'
    assert.deepEqual(sorted(workspaceOf(t.home)), sorted(isNew ? t.record : t.later), `full from ${from}`)
  }
  assert.deepEqual([...ends].sort(), ['applying', 'failed', 'refused', 'restored'])
})

test('a run that moves the folder of a restore does not lose it', async () => {
  for (let from = 1; ; from += 3) {
    using t = setUpChanges()
    const end = await restoreOnFullDisk(t, t.record, from)
    if (end?.state !== 'applying') continue
    // The program was killed among the steps.
    renameSync(join(t.home, '.roost'), join(t.home, 'hidden'))
    const again = restoresAt(t.place)
    await again.resume()
    assert.equal((await again.look('one')).state, 'restored')
    assert.deepEqual([t.text('a'), t.text('b/c')], ['recorded', 'recorded'])
    assert.deepEqual(readdirSync(join(t.home, 'hidden')), [])
    return
  }
})

test('a folder of restores that a run has replaced is not needed', async () => {
  using t = setUpChanges()
  symlinkSync('/tmp', join(t.home, '.roost'))
  assert.equal((await restoreTo(t.restores, t.record)).state, 'restored')
  rmSync(join(t.home, '.roost'))
  assert.deepEqual(sorted(workspaceOf(t.home)), sorted(t.record))
})

test('a restore that is not continued expires with its files', async () => {
  const clock = createFakeClock()
  using t = setUp({ clock })
  const record: Tree = new Map([['a', { kind: 'file', mode: 0o644, content: 'recorded' }]])
  await t.restores.open('one', [''], everything)
  await t.restores.target('one', targetOf(record), [])
  await t.restores.compare('one')
  await t.restores.look('one')
  const [need] = (await t.restores.needs('one', 0)).needs
  assert.ok(need)
  const piece = { content: need.content, offset: 0, bytes: Buffer.from('rec'), last: false }
  await t.restores.write('one', [piece])
  assert.equal(readdirSync(join(t.home, '.roost')).length, 1)
  await clock.advance(11 * 60_000)
  await t.restores.close('one')
  assert.equal((await t.restores.look('one')).state, 'discarded')
  await assert.rejects(t.restores.write('one', [piece]), code('invalid_message'))
  assert.deepEqual([...workspaceOf(t.home).keys()], [''])
})

test('a target that no workspace can have is refused', async () => {
  using t = setUp()
  const entry = {
    kind: 'folder',
    mode: 0o755,
    owner: true,
    sparse: false,
    content: '',
    known: false,
  } as const
  for (const path of [
    '..',
    'a/../b',
    '/a',
    'a//b',
    '',
    '.roost/keys',
    '.ssh',
    'shared-in/x',
    'a\0',
    'x'.repeat(256),
  ]) {
    await t.restores.open('one', [''], everything)
    await assert.rejects(t.restores.target('one', [{ ...entry, path }], []), code('invalid_message'), path)
    if (path !== '') await assert.rejects(t.restores.open('one', [path], everything), code('invalid_message'))
  }
  await t.restores.open('one', [''], everything)
  const inside = { ...entry, path: 'missing/folder' }
  await assert.rejects(t.restores.target('one', [inside], []), code('invalid_message'))
  const file = { ...entry, path: 'file', kind: 'file', content: '../../secret' } as const
  await assert.rejects(t.restores.target('one', [file], []), code('invalid_message'))
  await assert.rejects(t.restores.open('../x', [''], everything), code('invalid_message'))
  await t.restores.compare('one')
  await settled(t.restores, 'one')
  const piece = { content: 'a'.repeat(64), offset: 0, bytes: Buffer.from('x'), last: true }
  await assert.rejects(t.restores.write('one', [piece]), code('invalid_message'))
})

test('a huge record is restored, an endless one is refused', async () => {
  using t = setUp()
  const record: Tree = new Map()
  const folder = { kind: 'folder', mode: 0o755, content: '' } as const
  for (let index = 0; index < 2000; index += 1) record.set(`folder-${index}`, folder)
  assert.equal((await restoreTo(t.restores, record)).added, 2000)
  assert.equal(readdirSync(t.home).length, 2001)
  assert.equal((await restoreTo(t.restores, new Map(), { id: 'two' })).deleted, 2000)
  assert.deepEqual(readdirSync(t.home), ['.roost'])
  await t.restores.open('three', [''], everything)
  const long = Array.from({ length: 1000 }, (_, index) => `${index}`.padStart(4000, 'x/'))
  let pages = 0
  const send = async () => {
    for (; pages < 100; pages += 1)
      await t.restores.target(
        'three',
        [],
        long.map((path) => `${pages}${path}`),
      )
  }
  await assert.rejects(send, code('io_error'))
  assert.ok(pages > 5)
})

test('what is too deep stays, with the folders around it', async () => {
  using t = setUp()
  t.write('kept', 'recorded')
  const record = readTree(t.home)
  const deep = Array.from({ length: 600 }, () => 'd').join('/')
  t.write(`${deep}/file`, 'later')
  const { state, conflict_count } = await restoreTo(t.restores, record)
  assert.deepEqual([state, conflict_count, t.text(`${deep}/file`)], ['restored', 1, 'later'])
})
