import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { HistoryEntry } from '@roost/contracts/link/history'
import { changeTree, randomOf, readTree, type Tree, type TreeItem } from '@roost/test-support/trees/random'
import { maxGarbageMs, maxPacks, openGitStore } from './git-store.ts'
import { type Draft, HistoryFull, InvalidTree, UnknownRecord, type WorkspaceHistory } from './port.ts'

const noLimit = 1e12

async function setUp() {
  const root = mkdtempSync(join(tmpdir(), 'roost-history-test-'))
  const open = () => openGitStore({ folder: join(root, 'store'), path: process.env.PATH ?? '' })
  const store = await open()
  return {
    root,
    store,
    open,
    repository: join(root, 'store', 'objects.git'),
    /** Exists while there may be something to collect. */
    due: join(root, 'store', 'collect-due'),
    async [Symbol.asyncDispose]() {
      await store.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

test('a store has one identity in all processes', async () => {
  await using t = await setUp()
  await using other = await setUp()
  const again = await Promise.all([t.open(), t.open()])
  const own = await t.store.id()
  assert.match(own, /^[0-9a-f-]{36}$/)
  assert.deepEqual(await Promise.all(again.map((store) => store.id())), [own, own])
  assert.notEqual(await other.store.id(), own)
  for (const store of again) await store.close()
})

test('processes that open a new store at the same time agree on its identity', async () => {
  const root = mkdtempSync(join(tmpdir(), 'roost-history-test-'))
  const folder = join(root, 'store')
  const open = () => openGitStore({ folder, path: process.env.PATH ?? '' })
  const stores = await Promise.all(Array.from({ length: 4 }, open))
  const ids = await Promise.all(stores.map((store) => store.id()))
  assert.equal(new Set(ids).size, 1)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('id')),
    ['id'],
  )
  for (const store of stores) await store.close()
  rmSync(root, { recursive: true, force: true })
})

test('the size is measured while records of other agents are removed', async () => {
  await using t = await setUp()
  const folders = Array.from({ length: 300 }, (_, number) =>
    join(t.repository, 'refs', 'records', `a${number}`),
  )
  const left = await t.store.size()
  for (let round = 0; round < 3; round += 1) {
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'record'), 'x')
    }
    await Promise.all([t.store.size(), ...folders.map((folder) => rm(folder, { recursive: true }))])
  }
  assert.equal(await t.store.size(), left)
})

const digestOf = (content: string) =>
  createHash('sha256').update(`blob ${content.length}\0`).update(content, 'latin1').digest('hex')

function file(path: string, over: Partial<HistoryEntry> = {}): HistoryEntry {
  return { path, kind: 'file', mode: 0o644, owner: true, size: 0, sparse: false, ...over }
}

async function* bytes(content: string): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += 65_536)
    yield Buffer.from(content.slice(at, at + 65_536), 'latin1')
}

/** Sends the difference of two trees, as the agent program does. */
async function send(draft: Draft, before: Tree, after: Tree): Promise<void> {
  const isSame = (path: string) => JSON.stringify(before.get(path)) === JSON.stringify(after.get(path))
  const gone = [...before.keys()].filter((path) => !after.has(path))
  for (const path of gone) await draft.remove(path)
  const came = [...after].filter(([path]) => !isSame(path)).sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [path, { kind, mode, content }] of came) {
    const entry = file(path, { kind, mode })
    if (kind === 'folder') await draft.folder(entry)
    else {
      const sources = [path, ...gone]
      let isKept = false
      for (const from of sources) isKept ||= await draft.keep(entry, digestOf(content), from)
      if (!isKept) await draft.put(entry, bytes(content))
    }
  }
}

async function record(
  store: WorkspaceHistory,
  agent: string,
  id: string,
  base: string | null,
  trees: [Tree, Tree],
) {
  await using draft = await store.open({ agent, base, maxBytes: noLimit })
  await send(draft, ...trees)
  return await draft.commit(id)
}

async function textOf(content: AsyncIterable<Buffer> | null): Promise<string | null> {
  if (!content) return null
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString('latin1')
}

/** Everything of a record but the attributes of its root. */
async function readBack(store: WorkspaceHistory, agent: string, id: string): Promise<Tree> {
  const tree: Tree = new Map()
  const pending = ['']
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const { path, kind, mode } of (await store.list({ agent, record: id }, folder)) ?? []) {
      const content = kind === 'folder' ? '' : await textOf(await store.read({ agent, record: id }, path))
      tree.set(path, { kind, mode, content: content ?? 'missing' })
      if (kind === 'folder') pending.push(path)
    }
  }
  return tree
}

/** The same through a walk, which has folders before their content. */
async function walkBack(store: WorkspaceHistory, agent: string, id: string): Promise<Tree> {
  const tree: Tree = new Map()
  let last = ''
  let left = 0
  for await (const walked of store.walk({ agent, record: id }, { withContents: true })) {
    if (Buffer.isBuffer(walked)) {
      const item = tree.get(last)
      if (item) item.content += walked.toString('latin1')
      left -= walked.length
      continue
    }
    assert.equal(left, 0, last)
    const { path, kind, mode } = walked.entry
    const parent = path.slice(0, Math.max(path.lastIndexOf('/'), 0))
    assert.ok(parent === '' || tree.get(parent)?.kind === 'folder', path)
    tree.set(path, { kind, mode, content: '' })
    last = path
    left = walked.size
  }
  assert.equal(left, 0)
  return tree
}

const sorted = (tree: Tree) => [...tree].filter(([path]) => path !== '').sort(([a], [b]) => (a < b ? -1 : 1))
const treeOf = (files: Record<string, string>): Tree => {
  const tree: Tree = new Map([['', { kind: 'folder', mode: 0o755, content: '' }]])
  for (const [path, content] of Object.entries(files)) {
    const parts = path.split('/')
    for (let depth = 1; depth < parts.length; depth += 1)
      tree.set(parts.slice(0, depth).join('/'), { kind: 'folder', mode: 0o755, content: '' })
    tree.set(path, { kind: 'file', mode: 0o644, content })
  }
  return tree
}
const empty: Tree = new Map()

test('many contents are read in order, and a caller may skip some of them', async () => {
  await using t = await setUp()
  const text = (content: string): TreeItem => ({ kind: 'file', mode: 0o644, content })
  const tree: Tree = new Map([
    ['a', text('one')],
    ['large', text('x'.repeat(3_000_000))],
    ['deep', { kind: 'folder', mode: 0o755, content: '' }],
    ['deep/copy', text('one')],
    ['empty', text('')],
    ['link', { kind: 'link', mode: 0o777, content: 'deep' }],
  ])
  await record(t.store, 'one', 'r1', null, [new Map(), tree])
  const id = { agent: 'one', record: 'r1' }
  const paths = ['link', 'missing', 'large', 'deep', 'deep/copy', 'large', 'empty', 'a']
  const contents = ['deep', null, 'skipped', null, 'one', 'x'.repeat(3_000_000), '', 'one']
  const items = paths.map((path, at) => ({ path, at }))
  // A few are read one by one, many by a process of their own.
  for (const times of [1, 3]) {
    const found: (string | null)[] = []
    for await (const { item, pieces } of t.store.readAll(
      id,
      Array(times).fill(items).flat() as typeof items,
    )) {
      assert.equal(item.at, found.length % paths.length)
      found.push(item.at === 2 ? 'skipped' : await textOf(pieces))
    }
    assert.deepEqual(found, Array(times).fill(contents).flat())
  }
  const unknown = t.store.readAll({ agent: 'one', record: 'r2' }, items)
  await assert.rejects(Array.fromAsync(unknown), UnknownRecord)
  for await (const _ of t.store.readAll(id, [...items, ...items])) break
})

test('records of random trees read back byte-equal, each from the one before', async () => {
  await using t = await setUp()
  for (let seed = 1; seed <= 8; seed += 1) {
    const folder = join(t.root, `tree-${seed}`)
    mkdirSync(folder)
    const random = randomOf(seed)
    const trees: Tree[] = [empty]
    for (let round = 1; round <= 4; round += 1) {
      changeTree(folder, random, 15)
      trees.push(readTree(folder))
      const pair: [Tree, Tree] = [trees[round - 1] ?? empty, trees[round] ?? empty]
      await record(t.store, `a${seed}`, `r${round}`, round === 1 ? null : `r${round - 1}`, pair)
    }
    for (let round = 1; round <= 4; round += 1)
      for (const back of [readBack, walkBack])
        assert.deepEqual(
          sorted(await back(t.store, `a${seed}`, `r${round}`)),
          sorted(trees[round] ?? empty),
          `seed ${seed}, round ${round}`,
        )
  }
  execFileSync('git', ['--git-dir', t.repository, 'fsck', '--strict', '--no-dangling'], { stdio: 'pipe' })
})

test('a walk that is abandoned or has no record ends its process', async () => {
  await using t = await setUp()
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}`, 'x'.repeat(100_000)]))
  await record(t.store, 'one', 'r1', null, [empty, treeOf(files)])
  for await (const walked of t.store.walk({ agent: 'one', record: 'r1' }, { withContents: true }))
    if (Buffer.isBuffer(walked)) break
  const unknown = t.store.walk({ agent: 'one', record: 'r9' }, { withContents: true })
  await assert.rejects(Array.fromAsync(unknown), UnknownRecord)
})

test('equal trees are equal objects, whichever way they came about', async () => {
  await using t = await setUp()
  const [first, second] = [treeOf({ 'a/b': '1', 'a/c': '2' }), treeOf({ 'a/b': '1', d: '3' })]
  await record(t.store, 'one', 'r1', null, [empty, first])
  await record(t.store, 'one', 'r2', 'r1', [first, second])
  await record(t.store, 'one', 'r3', 'r2', [second, first])
  assert.deepEqual(await t.store.changes({ agent: 'one', record: 'r1' }, { agent: 'one', record: 'r3' }), [])
})

test('attributes that git does not have survive: modes, owners, sparse files, empty folders', async () => {
  await using t = await setUp()
  const entries = [
    file('', { kind: 'folder', mode: 0o2775 }),
    file('empty', { kind: 'folder', mode: 0o700 }),
    file('set-id', { mode: 0o4750, owner: false }),
    file('sparse', { mode: 0o600, sparse: true }),
  ]
  await using draft = await t.store.open({ agent: 'one', base: null, maxBytes: noLimit })
  for (const entry of entries)
    await (entry.kind === 'folder' ? draft.folder(entry) : draft.put(entry, bytes('x')))
  await draft.commit('r1')
  const listed = (await t.store.list({ agent: 'one', record: 'r1' }, '')) ?? []
  const shown = listed.map(({ path, mode, owner, sparse }) => [path, mode, owner, sparse])
  assert.deepEqual(shown, [
    ['empty', 0o700, true, false],
    ['set-id', 0o4750, false, false],
    ['sparse', 0o600, true, true],
  ])
  await using changed = await t.store.open({ agent: 'one', base: 'r1', maxBytes: noLimit })
  await changed.folder(file('empty', { kind: 'folder', mode: 0o755 }))
  await changed.commit('r2')
  const [change, ...rest] = await t.store.changes(
    { agent: 'one', record: 'r1' },
    { agent: 'one', record: 'r2' },
  )
  assert.deepEqual([change?.path, change?.change, rest], ['empty', 'attributes', []])
})

test('changes name added, changed, deleted and renamed files, and swaps of file and folder', async () => {
  await using t = await setUp()
  const before = treeOf({ same: '1', 'in/edit': '1', gone: '2', old: 'moved', swap: 'f', 'was/inside': '5' })
  const after = treeOf({
    same: '1',
    'in/edit': '3',
    'new/place': 'moved',
    fresh: '4',
    'swap/x': 'f',
    was: '6',
  })
  await record(t.store, 'one', 'r1', null, [empty, before])
  await record(t.store, 'one', 'r2', 'r1', [before, after])
  const changes = await t.store.changes({ agent: 'one', record: 'r1' }, { agent: 'one', record: 'r2' })
  assert.deepEqual(
    changes.map(({ path, change, from }) => `${change} ${path}${from ? ` from ${from}` : ''}`),
    [
      'added fresh',
      'deleted gone',
      'changed in/edit',
      'added new',
      'renamed new/place from old',
      'deleted swap',
      'added swap',
      'renamed swap/x from swap',
      'deleted was',
      'added was',
      'deleted was/inside',
    ].filter((each) => each !== 'deleted swap'),
  )
})

test('content is stored once for all agents', async () => {
  await using t = await setUp()
  const content = createHash('sha512').update('x').digest('hex').repeat(2000)
  const noise = Array.from({ length: 4000 }, (_, index) => digestOf(String(index))).join('')
  const tree = treeOf({ a: noise, b: noise, c: content })
  await record(t.store, 'one', 'r1', null, [empty, tree])
  const before = sizeOf(t.repository)
  await record(t.store, 'two', 'r1', null, [empty, tree])
  assert.ok(sizeOf(t.repository) - before < 4096, `${sizeOf(t.repository) - before} bytes more`)
})

test('a digest gives an agent nothing that its own base does not have at that path', async () => {
  await using t = await setUp()
  await record(t.store, 'victim', 'r1', null, [empty, treeOf({ secret: 'canary' })])
  await record(t.store, 'thief', 'r1', null, [empty, treeOf({ a: 'mine' })])
  await assert.rejects(t.store.open({ agent: 'thief', base: 'r2', maxBytes: noLimit }), UnknownRecord)
  await assert.rejects(
    t.store.open({ agent: 'thief', base: '../victim/r1', maxBytes: noLimit }),
    UnknownRecord,
  )
  await using draft = await t.store.open({ agent: 'thief', base: 'r1', maxBytes: noLimit })
  for (const from of ['secret', 'a', ''])
    assert.equal(await draft.keep(file('b'), digestOf('canary'), from), false)
  assert.equal(await draft.keep(file('b'), digestOf('mine'), 'a'), true)
  await draft.commit('r2')
  assert.equal(await textOf(await t.store.read({ agent: 'thief', record: 'r2' }, 'b')), 'mine')
  assert.equal(await t.store.list({ agent: 'thief', record: '../victim/r1' }, ''), null)
})

test('all records of an agent are removed, and nobody else loses one', async () => {
  await using t = await setUp()
  for (const agent of ['one', 'one-more'])
    for (const id of ['r1', 'r2']) await record(t.store, agent, id, null, [empty, treeOf({ a: 'a' })])
  await t.store.removeAll('one')
  await t.store.removeAll('none')
  await t.store.removeAll('../one-more')
  assert.deepEqual((await t.store.records()).map(({ agent, record: id }) => `${agent} ${id}`).sort(), [
    'one-more r1',
    'one-more r2',
  ])
})

test('what is no tree is refused and leaves no record', async () => {
  await using t = await setUp()
  const paths = ['', '/a', 'a/', 'a//b', '.', '..', 'a/../b', 'missing/x', 'a\0b', 'x'.repeat(256), '\u0100']
  for (const path of paths) {
    await using draft = await t.store.open({ agent: 'one', base: null, maxBytes: noLimit })
    await assert.rejects(draft.put(file(path), bytes('x')), InvalidTree, JSON.stringify(path))
  }
  await using draft = await t.store.open({ agent: 'one', base: null, maxBytes: noLimit })
  await draft.put(file('file'), bytes('x'))
  await assert.rejects(draft.put(file('file/below'), bytes('x')), InvalidTree)
  await assert.rejects(draft.commit('../two'), UnknownRecord)
  assert.equal(await t.store.list({ agent: 'one', record: 'r1' }, ''), null)
})

test('a record never changes, and says whether it differs from its base', async () => {
  await using t = await setUp()
  const tree = treeOf({ a: '1', 'b/c': '2' })
  assert.equal((await record(t.store, 'one', 'r1', null, [empty, tree])).isChanged, true)
  await assert.rejects(record(t.store, 'one', 'r1', null, [empty, treeOf({ a: 'other' })]))
  assert.deepEqual(sorted(await readBack(t.store, 'one', 'r1')), sorted(tree))
  assert.equal((await record(t.store, 'one', 'r2', 'r1', [tree, tree])).isChanged, false)
  await using draft = await t.store.open({ agent: 'one', base: 'r2', maxBytes: noLimit })
  await draft.folder(file('b', { kind: 'folder', mode: 0o700 }))
  assert.equal((await draft.commit('r3')).isChanged, true)
})

test('many empty files with long names count against the quota too', async () => {
  await using t = await setUp()
  await using draft = await t.store.open({ agent: 'one', base: null, maxBytes: 10_000 })
  await assert.rejects(async () => {
    for (let index = 0; index < 100; index += 1) await draft.put(file(`${index}`.padEnd(200, 'x')), bytes(''))
  }, HistoryFull)
})

test('content above the quota is refused while it arrives', async () => {
  await using t = await setUp()
  await using draft = await t.store.open({ agent: 'one', base: null, maxBytes: 3_000_000 })
  let sent = 0
  async function* endless() {
    for (;;) {
      sent += 65_536
      yield Buffer.alloc(65_536)
    }
  }
  await assert.rejects(draft.put(file('a'), endless()), HistoryFull)
  assert.ok(sent < 3_200_000)
  assert.deepEqual(readdirSync(join(t.root, 'store', 'incoming')), [])
})

test('large files are stored and read in pieces', async () => {
  await using t = await setUp()
  const content = 'abcdefgh'.repeat(700_000)
  await record(t.store, 'one', 'r1', null, [empty, treeOf({ large: content })])
  assert.equal(await textOf(await t.store.read({ agent: 'one', record: 'r1' }, 'large')), content)
})

test('a draft that ends early leaves the old records and nothing else', async () => {
  await using t = await setUp()
  const tree = treeOf({ a: '1' })
  await record(t.store, 'one', 'r1', null, [empty, tree])
  await t.store.collect()
  const before = sizeOf(t.repository)
  {
    await using draft = await t.store.open({ agent: 'one', base: 'r1', maxBytes: noLimit })
    await draft.put(file('b'), bytes(digestOf('x').repeat(50_000)))
  }
  assert.equal(await t.store.list({ agent: 'one', record: 'r2' }, ''), null)
  assert.deepEqual(sorted(await readBack(t.store, 'one', 'r1')), sorted(tree))
  await t.store.collect()
  assert.equal(sizeOf(t.repository), before)
})

test('what a discarded draft received is removed, also after a kill of the process', async () => {
  await using t = await setUp()
  const pack = join(t.repository, 'objects/pack')
  const unfinished = () => readdirSync(pack).filter((name) => name.startsWith('tmp_'))
  {
    await using draft = await t.store.open({ agent: 'one', base: null, maxBytes: noLimit })
    await draft.put(file('b'), bytes(digestOf('x').repeat(50_000)))
    await until(() => unfinished().length > 0, 'git has received something')
  }
  await until(() => unfinished().length === 0, 'it is removed')
  await t.store.collect()
  assert.equal(existsSync(t.due), false)
  writeFileSync(join(pack, 'tmp_pack_killed'), 'x')
  const next = await t.open()
  await until(() => unfinished().length === 0, 'it is removed')
  assert.equal(existsSync(t.due), true)
  await next.close()
})

test('retention frees what no record needs, and keeps what another one does', async () => {
  await using t = await setUp()
  const noise = (seed: string) => Array.from({ length: 2000 }, (_, index) => digestOf(seed + index)).join('')
  const [first, second] = [treeOf({ a: noise('a'), b: noise('b') }), treeOf({ b: noise('b') })]
  await record(t.store, 'one', 'r1', null, [empty, first])
  await record(t.store, 'one', 'r2', 'r1', [first, second])
  await record(t.store, 'two', 'r1', null, [empty, second])
  const [used, other] = [await t.store.usedBytes('one'), await t.store.usedBytes('two')]
  assert.ok(used > 1.8 * other && other > 60_000, `${used} and ${other}`)
  await t.store.remove('one', ['r1', 'unknown'])
  assert.ok((await t.store.usedBytes('one')) < 1.1 * other)
  const before = sizeOf(t.repository)
  await t.store.collect()
  assert.ok(before - sizeOf(t.repository) > 60_000)
  for (const [agent, id] of [
    ['one', 'r2'],
    ['two', 'r1'],
  ] as const)
    assert.deepEqual(sorted(await readBack(t.store, agent, id)), sorted(second))
  assert.equal(await t.store.list({ agent: 'one', record: 'r1' }, ''), null)
  assert.equal(await t.store.usedBytes('none'), 0)
})

test('small packs are joined; a little garbage waits for a day, however often records are removed', async () => {
  await using t = await setUp()
  const packs = () => readdirSync(join(t.repository, 'objects/pack')).filter((name) => name.endsWith('.pack'))
  const noise = Array.from({ length: 20_000 }, (_, index) => digestOf(String(index))).join('')
  await record(t.store, 'large', 'r1', null, [empty, treeOf({ noise })])
  for (let from = 0; from < maxPacks; from += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        record(t.store, `a${from + at}`, 'r1', null, [empty, treeOf({ a: `${from + at}` })]),
      ),
    )
  assert.ok(packs().length > maxPacks)
  await t.store.remove('a0', ['r1'])
  const garbage = await t.store.garbage()
  assert.ok(garbage > 0 && garbage < 1000, `${garbage}`)
  await t.store.maintain()
  assert.ok(packs().length < 10, `${packs().length} packs`)
  assert.equal(await t.store.garbage(), garbage)
  for (let at = 1; at < maxPacks; at += 1)
    assert.equal(await textOf(await t.store.read({ agent: `a${at}`, record: 'r1' }, 'a')), `${at}`)
  // Enough is collected immediately, a little after a day.
  const earlier = (Date.now() - maxGarbageMs) / 1000 - 1
  utimesSync(t.due, earlier, earlier)
  await t.store.remove('a1', ['r1'])
  await t.store.maintain()
  assert.deepEqual([await t.store.garbage(), existsSync(t.due), packs().length], [0, false, 1])
  await t.store.remove('large', ['r1'])
  await t.store.maintain()
  assert.deepEqual([await t.store.garbage(), existsSync(t.due)], [0, false])
})

test('a collection waits for drafts, whose base may be removed meanwhile', async () => {
  await using t = await setUp()
  const tree = treeOf({ a: '1', 'b/c': '2' })
  await record(t.store, 'one', 'r1', null, [empty, tree])
  await using draft = await t.store.open({ agent: 'one', base: 'r1', maxBytes: noLimit })
  await draft.put(file('d'), bytes('3'))
  await t.store.remove('one', ['r1'])
  const collected = t.store.collect()
  await draft.commit('r2')
  await collected
  const expected = treeOf({ a: '1', 'b/c': '2', d: '3' })
  assert.deepEqual(sorted(await readBack(t.store, 'one', 'r2')), sorted(expected))
})

test('twenty drafts at once, also of two processes, are all stored', async () => {
  await using t = await setUp()
  const second = await t.open()
  try {
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        record(index % 2 ? second : t.store, `a${index}`, 'r1', null, [empty, treeOf({ a: `${index}` })]),
      ),
    )
    for (let index = 0; index < 20; index += 1)
      assert.equal(await textOf(await t.store.read({ agent: `a${index}`, record: 'r1' }, 'a')), `${index}`)
  } finally {
    await second.close()
  }
})

async function until(isTrue: () => boolean, what: string): Promise<void> {
  const deadline = AbortSignal.timeout(60_000)
  while (!isTrue()) {
    assert.ok(!deadline.aborted, `never came true: ${what}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function sizeOf(folder: string): number {
  let size = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) size += statSync(join(entry.parentPath, entry.name)).size
  return size
}
