import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isPortable } from '@roost/contracts/link/credentials'
import type { HistoryPageAnswer, HistoryReadAnswer } from '@roost/contracts/link/history'
import { createFakeAgentLink, type FakeAnswers } from '../../ports/agent-link/fake.ts'
import { LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import type { Draft, Walked, WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { agentStore } from '../records/index.ts'
import { openAgents } from '../test/world.ts'
import { reasonOf } from './faults.ts'
import { omissionsOf } from './omissions.ts'
import { pullScan } from './pull.ts'
import { restoreStore } from './restore-store.ts'
import { storeName } from './rules.ts'
import { historyStore } from './store.ts'
import { linkWorkspace } from './test/linked-workspace.ts'

const onDemand = { reason: () => 'demand' as const }
const afterRun = { reason: () => 'after_run' as const }

async function openWorld(options: Parameters<typeof openAgents>[1] & { answers?: FakeAnswers } = {}) {
  const world = await openAgents(await openTestDatabase(), options)
  const { key } = await world.person('admin')
  await world.request(key, 'POST', '/api/agents', { name: 'ada' })
  const { id } = await world.row('ada')
  const workspace = linkWorkspace(world.link, id, options.answers)
  const { history } = world.area
  const write = (name: string, content: string | Buffer) => {
    writeFileSync(join(workspace.home, name), content)
    workspace.wrote()
  }
  return {
    ...{ world, key, id, history, write, workspace },
    store: historyStore(world.db),
    /** Without its workspace. */
    async forkOf(name: string, { id: record_id, created_at: record_at }: { id: string; created_at: string }) {
      await world.request(key, 'POST', '/api/agents', { name })
      const fork = await world.row(name)
      const origin = { agent_id: id, agent_name: 'ada', record_id, record_at }
      await agentStore(world.db).update(fork.id, { forked_from: JSON.stringify(origin) })
      return fork.id
    },
    calls: (t: string) => world.link.calls.filter((call) => call.t === t).length,
    async [Symbol.asyncDispose]() {
      await workspace[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
}

/** What a fork without credentials does not get. */
const omittedOf = (
  { id, world }: { id: string; world: { history: WorkspaceHistory } },
  { id: record }: { id: string },
) => omissionsOf(world.history, { agent: storeName(id), record }, (path) => isPortable(path, false))

test('a record has the difference to the one before it, and what is left out', async () => {
  await using t = await openWorld()
  mkdirSync(join(t.workspace.home, 'node_modules'))
  mkdirSync(join(t.workspace.home, 'src'))
  for (const name of ['a', 'b', 'c', 'src/d']) t.write(name, name)
  symlinkSync('a', join(t.workspace.home, 'link'))
  t.write('large', Buffer.alloc(3 * 1024 * 1024, 'x'))
  const first = await t.history.make(t.id, afterRun)
  assert.deepEqual([first.isNew, first.record.base_id, first.record.number], [true, null, 1])
  assert.deepEqual(JSON.parse(first.record.left_out), [{ path: 'node_modules', reason: 'rule' }])
  assert.ok(first.record.received_bytes > 3 * 1024 * 1024)

  t.write('a', 'changed')
  t.write('new', 'new')
  chmodSync(join(t.workspace.home, 'b'), 0o700)
  rmSync(join(t.workspace.home, 'c'))
  renameSync(join(t.workspace.home, 'large'), join(t.workspace.home, 'moved'))
  const { record } = await t.history.make(t.id, afterRun)
  const { base_id, is_changed, added, changed, deleted, renamed } = record
  assert.deepEqual(
    { base_id, is_changed, added, changed, deleted, renamed },
    { base_id: first.record.id, is_changed: 1, added: 1, changed: 2, deleted: 1, renamed: 1 },
  )
  assert.ok(record.received_bytes < 10_000, 'the moved file is not sent again')
})

test('while a restore changes the workspace, no record on demand is made', async () => {
  await using t = await openWorld()
  t.write('a', 'a')
  const { record } = await t.history.make(t.id, onDemand)
  const restore = {
    ...{ id: 'restore', agent_id: t.id, record_id: record.id, paths: '[""]', asked_by: null, run_id: null },
    ...{ validation_id: null, merge_base_id: null, overwrite: 0, fills_new: 0 },
    ...{ state: 'applying' as const, reason: null },
    ...{ message: null, added: 0, changed: 0, attributes: 0, deleted: 0, conflicts: '[]', conflict_count: 0 },
    ...{ before_id: null, after_id: null, runner: 'another process', ended_at: null },
    ...{ created_at: record.created_at, updated_at: record.created_at },
  }
  await restoreStore(t.world.db).insert(restore)
  await assert.rejects(t.history.make(t.id, onDemand), { name: 'Fault', code: 'conflict' })
  await restoreStore(t.world.db).change(restore, record.created_at, { state: 'waiting', runner: null })
  assert.equal((await t.history.make(t.id, onDemand)).isNew, true)
})

test('without a change runs share the latest record, and a record on demand is a new one', async () => {
  await using t = await openWorld()
  t.write('a', 'a')
  const { record } = await t.history.make(t.id, afterRun)
  const opened = t.calls('history.page')
  assert.deepEqual(await t.history.make(t.id, afterRun), { record, isNew: false })
  t.workspace.wrote()
  assert.deepEqual(await t.history.make(t.id, afterRun), { record, isNew: false })
  assert.equal(t.calls('history.page'), opened, 'nothing was pulled')
  // A new time without a new content.
  t.write('a', 'a')
  assert.deepEqual(await t.history.make(t.id, afterRun), { record, isNew: false })
  const demanded = await t.history.make(t.id, { ...onDemand, sourceId: record.id })
  assert.deepEqual(
    [demanded.isNew, demanded.record.is_changed, demanded.record.source_id],
    [true, 0, record.id],
  )
})

test('an agent that missed the end of a record continues from the one before it', async () => {
  await using t = await openWorld()
  t.write('a', 'a')
  const first = await t.history.make(t.id, afterRun)
  const { 'history.commit': commit, ...others } = t.workspace.answers
  t.world.link.link(t.id, others)
  t.write('b', 'b')
  await t.history.make(t.id, afterRun)
  t.world.link.link(t.id, { ...others, ...(commit && { 'history.commit': commit }) })
  t.write('c', 'c')
  const pages = t.calls('history.read')
  const { record } = await t.history.make(t.id, afterRun)
  assert.deepEqual([record.number, record.added, record.deleted], [3, 1, 0])
  assert.equal(t.calls('history.read'), pages + 1, 'only b and c are sent')
  assert.notEqual(record.base_id, first.record.id)
})

/** Paths and contents of a record. */
async function treeOf({ history }: { history: WorkspaceHistory }, agentId: string, record: string) {
  const id = { agent: storeName(agentId), record }
  const tree: Record<string, string | null> = {}
  for await (const walked of history.walk(id, { withContents: false })) {
    const { path } = (walked as Walked).entry
    const content = await history.read(id, path)
    tree[path] = content && Buffer.concat(await Array.fromAsync(content)).toString()
  }
  return tree
}

test('of an agent that knows no record, only what differs from its latest one is sent', async () => {
  await using t = await openWorld()
  mkdirSync(join(t.workspace.home, 'folder'))
  for (const name of ['a', 'b', 'folder/c', 'folder/d', 'e', 'f']) t.write(name, name)
  symlinkSync('a', join(t.workspace.home, 'link'))
  const { record } = await t.history.make(t.id, afterRun)
  const reads = t.calls('history.read')
  const { home } = t.workspace
  await using same = linkWorkspace(t.world.link, t.id, {}, { home })
  assert.deepEqual(await t.history.make(t.id, afterRun), { record, isNew: false })
  assert.equal(t.calls('history.read'), reads, 'nothing is sent')
  assert.deepEqual(await t.history.make(t.id, afterRun), { record, isNew: false }, 'the program knows it now')

  t.write('b', 'B')
  chmodSync(join(home, 'e'), 0o700)
  rmSync(join(home, 'folder'), { recursive: true })
  writeFileSync(join(home, 'folder'), 'a file')
  rmSync(join(home, 'f'))
  mkdirSync(join(home, 'f'))
  t.write('f/new', 'new')
  await same[Symbol.asyncDispose]()
  for (const digests of [[], Array.from({ length: 100 }, () => null)]) {
    await using _hostile = linkWorkspace(
      t.world.link,
      t.id,
      { 'history.digest': async () => ({ digests }) },
      { home },
    )
    await assert.rejects(t.history.make(t.id, afterRun), { name: 'InvalidAnswer' })
  }
  await using _other = linkWorkspace(t.world.link, t.id, {}, { home })
  const changed = (await t.history.make(t.id, afterRun)).record
  const expected = { a: 'a', b: 'B', e: 'e', f: null, 'f/new': 'new', folder: 'a file', link: 'a' }
  assert.deepEqual(await treeOf(t.world, t.id, changed.id), expected)
  assert.deepEqual([changed.base_id, changed.added, changed.deleted], [record.id, 2, 3])
  const { history } = t.world
  const of = (id: string, path: string) => history.entry({ agent: storeName(t.id), record: id }, path)
  assert.equal((await of(changed.id, 'e'))?.mode, 0o700)
})

test('the first record of a fork takes from the source what is equal, but no credentials', async () => {
  await using t = await openWorld()
  const { world, workspace } = t
  const secret = 'KEY=canary'
  mkdirSync(join(workspace.home, 'notes'))
  for (const [name, content] of Object.entries({
    a: 'a',
    b: 'b',
    c: 'c',
    '.env': secret,
    'notes/copy': secret,
  }))
    t.write(name, content)
  const source = (await t.history.make(t.id, onDemand)).record
  const id = await t.forkOf('fork', source)
  await using fork = linkWorkspace(world.link, id)
  // Guesses of what the source has, also at another path.
  mkdirSync(join(fork.home, 'notes'))
  const files = { a: 'a', b: 'changed', '.env': secret, 'notes/copy': secret, copy: secret }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(fork.home, name), content)
  fork.wrote()
  const { record } = await t.history.make(id, { reason: () => 'fork', sourceId: source.id })
  assert.deepEqual(await treeOf(world, id, record.id), { ...files, notes: null })
  assert.deepEqual(
    [record.base_id, record.source_id, record.is_changed, record.number],
    [null, source.id, 1, 1],
  )
  const sent = world.link.calls.flatMap((call) =>
    call.t === 'history.read' && call.agentId === id ? (call.request as { at: number[] }).at : [],
  )
  assert.equal(sent.length, 4, 'all but "a"')
  await t.history.make(id, afterRun)
})

test('the first record of a layered fork compares only what changed after its start', async () => {
  await using t = await openWorld()
  const { world } = t
  const secret = 'KEY=canary'
  for (const [name, content] of Object.entries({ a: 'a', b: 'b', c: 'c', '.env': secret }))
    t.write(name, content)
  const source = (await t.history.make(t.id, onDemand)).record
  const id = await t.forkOf('fork', source)
  // "b" has another content of the same size, so it is not read. "c" has another size, so it is.
  const files = { a: 'a', b: 'B', c: 'longer', '.env': secret }
  const asked = async (untouchedSince: number) => {
    await using workspace = linkWorkspace(world.link, id)
    for (const [name, content] of Object.entries(files)) writeFileSync(join(workspace.home, name), content)
    workspace.wrote()
    const before = world.link.calls.length
    const fork = { omitted: await omittedOf(t, source), untouchedSince }
    const { record } = await t.history.make(id, { reason: () => 'fork', sourceId: source.id, fork })
    const calls = world.link.calls.slice(before).filter((call) => call.t !== 'history.page')
    return { tree: await treeOf(world, id, record.id), names: calls.map((call) => call.t.slice(8)) }
  }
  const later = Date.now() + 60_000
  const first = await asked(later)
  assert.deepEqual(first.tree, { ...files, b: 'b' })
  assert.deepEqual(first.names, ['scan', 'digest', 'read', 'commit', 'close'])
  // From then on the fork has a record of its own.
  assert.deepEqual((await asked(later)).tree, files)
})

test('of a layered fork with all files of its source, only what is new is read', async () => {
  await using t = await openWorld()
  const { world } = t
  const inSource: Record<string, string> = {
    a: 'a',
    '.env': 'KEY=canary',
    'folder/b': 'b',
    'keys/id.pem': 'key',
  }
  const folders = ['folder', 'keys', 'empty']
  for (const folder of folders) mkdirSync(join(t.workspace.home, folder))
  for (const [name, content] of Object.entries(inSource)) t.write(name, content)
  const source = (await t.history.make(t.id, onDemand)).record
  const omitted = await omittedOf(t, source)
  assert.deepEqual([[...omitted.paths].sort(), omitted.takenCount], [['.env', 'keys/id.pem'], 5])

  async function recordOf(name: string, change: (home: string) => void) {
    const id = await t.forkOf(name, source)
    await using workspace = linkWorkspace(world.link, id)
    const { home } = workspace
    for (const folder of folders) mkdirSync(join(home, folder))
    writeFileSync(join(home, 'a'), 'a')
    writeFileSync(join(home, 'folder/b'), 'b')
    // A change in the tick before it counts as one after it.
    const untouchedSince = statSync(join(home, 'folder/b')).ctimeMs + 50
    do writeFileSync(join(home, '.env'), 'KEY=own')
    while (statSync(join(home, '.env')).ctimeMs < untouchedSince)
    change(home)
    workspace.wrote()
    const before = world.link.calls.length
    const request = { reason: () => 'fork' as const, sourceId: source.id, fork: { omitted, untouchedSince } }
    const { record } = await t.history.make(id, request)
    const calls = world.link.calls.slice(before).map((call) => call.t.slice(8))
    return { tree: await treeOf(world, id, record.id), calls }
  }
  const same = { a: 'a', '.env': 'KEY=own', folder: null, 'folder/b': 'b', keys: null, empty: null }
  const short = ['scan', 'page', 'digest', 'read', 'commit', 'close']
  const whole = ['scan', 'page', 'digest', 'read', 'page', 'page', 'commit', 'close']
  const added = await recordOf('added', (home) => writeFileSync(join(home, 'new'), 'new'))
  assert.deepEqual(added.tree, { ...same, new: 'new' })
  assert.deepEqual(added.calls, short)
  const changed = await recordOf('changed', (home) => writeFileSync(join(home, 'a'), 'A'))
  assert.deepEqual(changed.tree, { ...same, a: 'A' })
  assert.deepEqual(changed.calls, short)
  const { a: _a, ...without } = same
  const deleted = await recordOf('deleted', (home) => rmSync(join(home, 'a')))
  assert.deepEqual(deleted.tree, without)
  assert.deepEqual(
    deleted.calls,
    whole.filter((call) => call !== 'digest'),
  )
  const emptied = await recordOf('emptied', (home) => rmdirSync(join(home, 'empty')))
  const { empty: _empty, ...withoutFolder } = same
  assert.deepEqual(emptied.tree, withoutFolder)
  // One more and one less.
  const moved = await recordOf('moved', (home) => renameSync(join(home, 'a'), join(home, 'c')))
  assert.deepEqual(moved.tree, { ...without, c: 'a' })
  assert.deepEqual(moved.calls, whole)
  const replaced = await recordOf('replaced', (home) => {
    rmSync(join(home, '.env'))
    mkdirSync(join(home, '.env'))
    writeFileSync(join(home, '.env/inner'), 'inner')
  })
  assert.deepEqual(replaced.tree, { ...same, '.env': null, '.env/inner': 'inner' })
})

test('a fork without its source, or above its quota, is recorded by the same rules as any agent', async () => {
  await using t = await openWorld({ historyQuota: 60_000 })
  const { world } = t
  t.write('a', randomBytes(40_000))
  const source = (await t.history.make(t.id, onDemand)).record
  const gone = await t.forkOf('gone', { ...source, id: 'removed' })
  await using first = linkWorkspace(world.link, gone)
  writeFileSync(join(first.home, 'a'), 'a')
  first.wrote()
  const { record } = await t.history.make(gone, onDemand)
  assert.deepEqual(await treeOf(world, gone, record.id), { a: 'a' })

  const small = await t.forkOf('small', source)
  await historyStore(world.db).putSettings({
    ...{ agent_id: small, is_on: 1, undo_failed: 0, start_from_record: 0, rules: null, quota_bytes: 20_000 },
    updated_at: source.created_at,
  })
  await using second = linkWorkspace(world.link, small)
  copyFileSync(join(t.workspace.home, 'a'), join(second.home, 'a'))
  second.wrote()
  await assert.rejects(t.history.make(small, onDemand), { name: 'HistoryFull' })
  assert.equal(await t.store.latest(small), null)
  const stored = (await world.history.records()).filter(({ agent }) => agent === storeName(small))
  assert.deepEqual(stored, [])
})

test('records of one agent are made one after another', async () => {
  await using t = await openWorld()
  t.write('a', 'a')
  const made = await Promise.all([1, 2, 3].map(() => t.history.make(t.id, onDemand)))
  assert.deepEqual(
    made.map(({ record }) => record.number),
    [1, 2, 3],
  )
})

test('a lost store is filled again from nothing', async () => {
  await using t = await openWorld()
  t.write('a', 'a')
  const { record } = await t.history.make(t.id, afterRun)
  await t.world.history.remove(storeName(t.id), [record.id])
  t.write('b', 'b')
  const again = await t.history.make(t.id, afterRun)
  assert.deepEqual([again.isNew, again.record.base_id], [true, null])
  const files = await t.world.history.list({ agent: storeName(t.id), record: again.record.id }, '')
  assert.deepEqual(
    files?.map(({ path }) => path),
    ['a', 'b'],
  )
})

test('a full quota refuses the record and leaves nothing', async () => {
  await using t = await openWorld({ historyQuota: 10_000 })
  t.write('a', Buffer.alloc(50_000, 'x'))
  await assert.rejects(t.history.make(t.id, afterRun), { name: 'HistoryFull' })
  assert.deepEqual([await t.store.latest(t.id), await t.world.history.records()], [null, []])
  rmSync(join(t.workspace.home, 'a'))
  t.write('b', 'small')
  assert.equal((await t.history.make(t.id, afterRun)).isNew, true)
})

test('an agent that is deleted during its record leaves nothing in the store', async () => {
  await using t = await openWorld()
  t.write('a', 'a')
  const { 'history.close': _, 'history.read': read, ...others } = t.workspace.answers
  t.world.link.link(t.id, {
    ...others,
    async 'history.read'(request) {
      await agentStore(t.world.db).remove(t.id)
      return (await read?.(request)) ?? assert.fail()
    },
  })
  await assert.rejects(t.history.make(t.id, afterRun))
  assert.deepEqual(await t.world.history.records(), [])
})

test('faults have names', () => {
  const fault = (code: 'unknown_message' | 'io_error') => new LinkFault({ code, message: '' })
  const cases: [unknown, string | null][] = [
    [new LinkDown(), null],
    [new LinkTimeout(), 'agent_timeout'],
    [new DOMException('', 'TimeoutError'), 'agent_timeout'],
    [fault('unknown_message'), 'agent_outdated'],
    [fault('io_error'), 'agent_fault'],
    [new Error('disk'), 'store_fault'],
  ]
  for (const [error, reason] of cases) assert.equal(reasonOf(error), reason)
})

const entry = { kind: 'file' as const, mode: 0o644, owner: true, size: 1, sparse: false }
const page = (came: HistoryPageAnswer['came'], gone: string[] = []) => ({ came, gone })
const scanned = { handle: 'h', base: null, left_out: { paths: [], count: 0 } }
const byte = Buffer.from('x').toString('base64')

/** Each answer contradicts another one or the rules of the store. */
const hostile: Record<string, FakeAnswers> = {
  'a base of somebody else': { 'history.scan': async () => ({ ...scanned, base: 'other' }) },
  'no base and no scan': { 'history.scan': async () => ({ ...scanned, handle: null }) },
  'a path upwards': pages(page([{ ...entry, path: '../x' }])),
  'an absolute path': pages(page([{ ...entry, path: '/x' }])),
  'a file without its folder': pages(page([{ ...entry, path: 'none/x' }])),
  'a file below a file': pages(
    page([
      { ...entry, path: 'a' },
      { ...entry, path: 'a/b' },
    ]),
  ),
  'a removed path without a base': pages(page([], ['x'])),
  'contents of another file': reads({ at: 7, data_base64: byte, state: 'end' }),
  'no contents': reads(),
  'an endless empty content': reads({ at: 0, data_base64: '', state: 'more' }),
}

function pages(...all: HistoryPageAnswer[]): FakeAnswers {
  let next = 0
  return {
    'history.page': async () => all[next++] ?? page([]),
    'history.read': async ({ at }) => ({
      parts: at.map((each) => ({ at: each, data_base64: byte, state: 'end' })),
    }),
  }
}

function reads(...parts: HistoryReadAnswer['parts']): FakeAnswers {
  return { ...pages(page([{ ...entry, path: 'a' }])), 'history.read': async () => ({ parts }) }
}

test('a hostile agent gets no record and leaves nothing', async () => {
  await using t = await openWorld()
  for (const [what, answers] of Object.entries(hostile)) {
    t.world.link.link(t.id, { 'history.scan': async () => scanned, ...answers })
    const error = await t.history.make(t.id, afterRun).then(
      () => assert.fail(what),
      (thrown: unknown) => thrown,
    )
    assert.equal(reasonOf(error), 'invalid_answer', `${what}: ${error}`)
  }
  assert.deepEqual([await t.store.latest(t.id), await t.world.history.records()], [null, []])
})

test('a scan without an end is given up', async () => {
  let pulled = 0
  const draft: Omit<Draft, 'commit'> = {
    remove: async () => {},
    async folder() {
      pulled += 1
    },
    keep: async () => false,
    keepUntouched: async () => [],
    put: async () => {},
    [Symbol.asyncDispose]: async () => {},
  }
  const folders = Array.from({ length: 2000 }, () => ({ ...entry, kind: 'folder' as const, path: 'a' }))
  const link = createFakeAgentLink()
  link.link('a1', { 'history.page': async () => page(folders) })
  const { signal } = new AbortController()
  await assert.rejects(
    pullScan({ agentId: 'a1', handle: 'h', base: null, untouched: null, draft, link, signal }),
    /too many/,
  )
  assert.ok(pulled <= 300_000, String(pulled))
})
