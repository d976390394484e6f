import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  defaultHistoryRules,
  historyPageEntries,
  historyReadBytes,
  type ScannedEntry,
} from '@roost/contracts/link/history'
import { createFakeClock } from '../kit/fake-clock.ts'
import { createIdentities, readIdentityFacts } from '../processes/identity.ts'
import { makeTestHome } from '../test/home.ts'
import { createHistory } from './history.ts'
import { createScanner } from './scan.ts'
import { createWriters } from './writers.ts'

function setUp() {
  const place = makeTestHome()
  const identities = createIdentities(readIdentityFacts(statSync(place.home)))
  // Later than every change, so that no entry counts as changed in the tick of the scan.
  const later = { now: () => Date.now() + 60_000, after: () => () => {} }
  const clock = createFakeClock()
  const facts = { mayLogIn: false, waitingClis: [] as number[] }
  const writers = createWriters(
    { canSwitch: async () => true },
    () => facts.waitingClis,
    () => [],
  )
  const history = createHistory({
    scanner: createScanner({ home: place.home, file: join(place.root, 'index'), identities, clock: later }),
    ...{ writers, clock, mayLogIn: async () => facts.mayLogIn },
  })
  const scan = (bases: string[] = []) => history.scan(defaultHistoryRules, bases)
  return { ...place, clock, writers, facts, history, scan, [Symbol.dispose]: () => place[Symbol.dispose]() }
}
type SetUp = ReturnType<typeof setUp>

async function open(t: SetUp, bases: string[] = []): Promise<string> {
  const { handle } = await t.scan(bases)
  assert.ok(handle)
  return handle
}

function pull(t: SetUp, handle: string) {
  const gone: string[] = []
  const came: ScannedEntry[] = []
  for (;;) {
    const page = t.history.page(handle, gone.length + came.length)
    if (page.gone.length + page.came.length === 0) return { gone, came }
    gone.push(...page.gone)
    came.push(...page.came)
  }
}

test('a scan is pulled in pages, first what is gone', async () => {
  using t = setUp()
  const names = Array.from({ length: historyPageEntries + 10 }, (_, index) => `file-${index}`)
  for (const name of names) writeFileSync(join(t.home, name), '')
  const first = await open(t)
  assert.equal(t.history.page(first, 0).came.length, historyPageEntries)
  assert.equal(pull(t, first).came.length, names.length + 1)
  await t.history.commit(first, 'one')
  for (const name of names) rmSync(join(t.home, name))
  writeFileSync(join(t.home, 'new'), '')
  t.writers.began()
  const { gone, came } = pull(t, await open(t, ['none', 'one']))
  assert.deepEqual([gone.sort(), came.map(({ path }) => path)], [names.sort(), ['new']])
})

test('small files share an answer, and a large one takes several', async () => {
  using t = setUp()
  const large = Buffer.alloc(historyReadBytes * 2 + 5, 'x')
  const contents: Record<string, Buffer> = {
    a: Buffer.from('1'),
    b: Buffer.alloc(0),
    c: large,
    d: Buffer.from('2'),
  }
  for (const [name, content] of Object.entries(contents)) writeFileSync(join(t.home, name), content)
  const handle = await open(t)
  const { came } = pull(t, handle)
  const at = came.flatMap(({ kind }, index) => (kind === 'file' ? [index] : []))
  const read = new Map<string, Buffer>()
  let [next, offset, answers] = [0, 0, 0]
  while (next < at.length) {
    const { parts } = await t.history.read(handle, at.slice(next), offset)
    answers += 1
    for (const part of parts) {
      const { path } = came[part.at] ?? assert.fail()
      const bytes = Buffer.from(part.data_base64, 'base64')
      read.set(path, Buffer.concat([read.get(path) ?? Buffer.alloc(0), bytes]))
      offset = part.state === 'end' ? 0 : offset + bytes.length
      if (part.state === 'end') next += 1
    }
  }
  assert.deepEqual(Object.fromEntries([...read].sort()), contents)
  assert.ok(answers <= 5, String(answers))
  await assert.rejects(t.history.read(handle, at, 7), { code: 'invalid_message' })
  const folder = came.findIndex(({ kind }) => kind === 'folder')
  await assert.rejects(t.history.read(handle, [folder], 0), { code: 'invalid_message' })
})

test('a vanished file fails alone', async () => {
  using t = setUp()
  for (const name of ['a', 'b']) writeFileSync(join(t.home, name), name)
  const handle = await open(t)
  const { came } = pull(t, handle)
  const at = ['a', 'b'].map((name) => came.findIndex(({ path }) => path === name))
  rmSync(join(t.home, 'a'))
  const { parts } = await t.history.read(handle, at, 0)
  assert.deepEqual(
    parts.map(({ state, data_base64 }) => [state, Buffer.from(data_base64, 'base64').toString()]),
    [
      ['failed', ''],
      ['end', 'b'],
    ],
  )
  const { digests } = await t.history.digest(handle, at)
  assert.deepEqual(
    digests.map((digest) => digest?.length),
    [undefined, 64],
  )
})

test('a moved file names its earlier path', async () => {
  using t = setUp()
  mkdirSync(join(t.home, 'folder'))
  writeFileSync(join(t.home, 'folder', 'a'), 'content')
  writeFileSync(join(t.home, 'b'), 'b')
  const first = await open(t)
  await t.history.commit(first, 'one')
  renameSync(join(t.home, 'folder'), join(t.home, 'other'))
  chmodSync(join(t.home, 'b'), 0o700)
  t.writers.began()
  const { came } = pull(t, await open(t, ['one']))
  const earlier = came.filter(({ kind }) => kind === 'file').map(({ path, from }) => `${from} ${path}`)
  assert.deepEqual(earlier.sort(), ['b b', 'folder/a other/a'])
})

test('without a writer since the record nothing is listed, unless the rules or the record differ', async () => {
  using t = setUp()
  writeFileSync(join(t.home, 'a'), 'a')
  await t.history.commit(await open(t), 'one')
  // Nobody could write it: this shows that the workspace is not read.
  writeFileSync(join(t.home, 'b'), 'b')
  assert.deepEqual([(await t.scan(['one'])).handle, (await t.scan(['one'])).base], [null, 'one'])
  assert.notEqual((await t.history.scan({ ...defaultHistoryRules, patterns: [] }, ['one'])).handle, null)
  assert.equal((await t.scan(['two'])).base, null)
  t.facts.mayLogIn = true
  assert.notEqual((await t.scan(['one'])).handle, null)
})

test('while only a CLI waits, runs get a scan of hidden paths, and everything else a full one', async () => {
  using t = setUp()
  writeFileSync(join(t.home, 'a'), 'a')
  t.facts.waitingClis = [17]
  await t.history.commit(await open(t), 'one')
  writeFileSync(join(t.home, 'b'), 'b')
  assert.equal((await t.scan(['one'])).handle, null)
  const full = await t.history.scan(defaultHistoryRules, ['one'], true)
  assert.deepEqual(
    pull(t, full.handle ?? '').came.map(({ path }) => path),
    ['b'],
  )
  writeFileSync(join(t.home, '.state'), '')
  const hidden = await open(t, ['one'])
  assert.deepEqual(
    pull(t, hidden).came.map(({ path }) => path),
    ['.state'],
  )
})

test('a scan without a difference is over, and counts as recorded', async () => {
  using t = setUp()
  writeFileSync(join(t.home, 'a'), 'a')
  await t.history.commit(await open(t), 'one')
  t.writers.began()
  t.writers.ended()
  assert.equal(await t.writers.mayHaveChanged(), 'all')
  assert.equal((await t.scan(['one'])).handle, null)
  assert.equal(await t.writers.mayHaveChanged(), 'nothing')
})

test('what is left out since then does not make the next scans slower', async () => {
  using t = setUp()
  writeFileSync(join(t.home, 'a'), 'a')
  t.facts.waitingClis = [17]
  await t.history.commit(await open(t), 'one')
  mkdirSync(join(t.home, '.cache'))
  assert.equal((await t.scan(['one'])).handle, null)
  // Only a scan that compares with the index reads it.
  rmSync(join(t.root, 'index'))
  assert.equal((await t.scan(['one'])).handle, null)
})

test('a newer scan, the end of the link and silence close a scan', async () => {
  using t = setUp()
  const isClosed = (handle: string) =>
    assert.throws(() => t.history.page(handle, 0), { code: 'file_not_found' })
  const first = await open(t)
  const second = await open(t)
  isClosed(first)
  await t.history.close('none')
  t.history.page(second, 0)
  await t.history.close()
  isClosed(second)
  const third = await open(t)
  await t.clock.advance(10 * 60_000)
  isClosed(third)
})
