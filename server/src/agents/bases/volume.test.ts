import assert from 'node:assert/strict'
import { lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { HistoryEntry } from '@roost/contracts/link/history'
import { at, changeTree, randomOf, readTree, type Tree } from '@roost/test-support/trees/random'
import { createDockerContainers } from '../../ports/containers/docker/docker.ts'
import { openTestEngine } from '../../ports/containers/docker/test-engine.ts'
import { hasFault, specOf } from '../../ports/containers/test/harness.ts'
import { openGitStore } from '../../ports/workspace-history/git-store.ts'
import type { RecordId } from '../../ports/workspace-history/port.ts'
import { archiveOfRecord, NotLayered, requireArchivable } from './archive.ts'
import { archiveOfDifference, differenceOf } from './difference.ts'

const root = mkdtempSync(join(tmpdir(), 'roost-bases-'))
const store = await openGitStore({ folder: join(root, 'store'), path: process.env.PATH ?? '' })
const engine = await openTestEngine(process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:')
after(async () => {
  await engine.close()
  await store.close()
  rmSync(root, { recursive: true, force: true })
})

type Made = Partial<HistoryEntry> & { content?: string }

const long = `${'deep/'.repeat(6)}${'n'.repeat(250)}`
/** Folders before their content. */
const made: Record<string, Made> = {
  'plain.txt': { content: 'text\n' },
  empty: { kind: 'folder', mode: 0o755 },
  'closed folder': { kind: 'folder', mode: 0o500 },
  'closed folder/inside': { content: 'inside', mode: 0o400 },
  sticky: { kind: 'folder', mode: 0o1777 },
  'group folder': { kind: 'folder', mode: 0o2775 },
  run: { content: '#!/bin/sh\n', mode: 0o755 },
  special: { content: 'special', mode: 0o4755 },
  secret: { content: 'secret', mode: 0o600 },
  'no rights': { content: 'none', mode: 0 },
  large: { content: 'large '.repeat(1_000_000) },
  'exactly a block': { content: 'b'.repeat(512) },
  nothing: { content: '' },
  link: { kind: 'link', content: 'plain.txt' },
  'link out': { kind: 'link', content: '../../../../etc/passwd' },
  'link to root': { kind: 'link', content: '/etc/passwd' },
  'link to itself': { kind: 'link', content: '.' },
  'broken link': { kind: 'link', content: `${'missing/'.repeat(150)}x` },
  'link to bytes': { kind: 'link', content: '\xff\xfe' },
  '\xff\xfe': { content: 'not UTF-8' },
  '\xc3\xa4': { content: 'UTF-8' },
  'new\nline': { content: 'x' },
  '"quoted" back\\slash\t*': { content: 'x' },
  '-rf': { content: 'x' },
  ' ': { content: 'x' },
  '.wh.plain.txt': { content: 'a name that means a deletion in images' },
  '.wh..wh..opq': { content: 'x' },
  '.git': { kind: 'folder', mode: 0o755 },
  '.git/HEAD': { content: 'ref: refs/heads/main\n' },
  nested: { kind: 'folder', mode: 0o755 },
  'nested/.git': { content: 'gitdir: elsewhere' },
  '%': { content: 'x' },
  'file of others': { content: 'x', owner: false, mode: 0o755 },
  'folder of others': { kind: 'folder', owner: false, mode: 0o755 },
  'folder of others/link': { kind: 'link', content: 'x', owner: false },
  deep: { kind: 'folder', mode: 0o755 },
}
for (let depth = 2; depth <= 6; depth += 1)
  made['deep/'.repeat(depth).slice(0, -1)] = { kind: 'folder', mode: 0o755 }
made[long] = { content: 'far below' }

async function recordOf(id: string, entries: Record<string, Made>, agent = 'one'): Promise<void> {
  await using draft = await store.open({ agent, base: null, maxBytes: 1e12 })
  for (const [path, { content = '', ...over }] of Object.entries(entries)) {
    const isLink = over.kind === 'link'
    const entry: HistoryEntry = {
      ...{ path, kind: 'file', mode: isLink ? 0o777 : 0o644, owner: true, size: 0, sparse: false },
      ...over,
    }
    if (entry.kind === 'folder') await draft.folder(entry)
    else await draft.put(entry, pieces(content))
  }
  await draft.commit(id)
}

async function* pieces(content: string): AsyncGenerator<Buffer> {
  for (let start = 0; start < content.length; start += 65_536)
    yield Buffer.from(content.slice(start, start + 65_536), 'latin1')
}

test('a base is byte-equal to its record, with modes, links, owners and every name', async () => {
  await recordOf('special', made)
  const record = { agent: 'one', record: 'special' }
  await requireArchivable(store, record)
  const containers = createDockerContainers(engine.line.url, { install: engine.mark, network: engine.mark })
  const name = `${engine.mark}-base`
  await containers.layers?.fill(name, {
    ...{ labels: {}, image: engine.image },
    archive: archiveOfRecord(store, record, new Date('2026-01-02T03:04:05Z')),
  })
  const { Mountpoint } = await engine.docker.getVolume(name).inspect()
  const found = readTree(Mountpoint)
  const wanted: Tree = new Map()
  for (const path of ['.roost', '.tmp', 'shared-in', 'shared-out'])
    wanted.set(path, { kind: 'folder', mode: 0o755, content: '' })
  wanted.set('.ssh', { kind: 'folder', mode: 0o700, content: '' })
  for (const [
    path,
    { kind = 'file', mode = kind === 'link' ? 0o777 : 0o644, content = '' },
  ] of Object.entries(made))
    wanted.set(path, { kind, mode, content })
  found.delete('')
  const sorted = (tree: Tree) => [...tree].sort(([a], [b]) => (a < b ? -1 : 1))
  assert.deepEqual(sorted(found), sorted(wanted))
  for (const path of wanted.keys()) {
    const { uid, gid, mtimeMs } = lstatSync(at(Mountpoint, path))
    assert.deepEqual([uid, gid], [made[path]?.owner === false ? 1001 : 1000, 1000], path)
    if (made[path]?.kind !== 'folder') assert.equal(new Date(mtimeMs).getUTCFullYear(), 2026, path)
  }
})

test('a record that an engine cannot create exactly is told beforehand', async () => {
  await recordOf('sparse', { holes: { content: 'x', sparse: true } })
  await assert.rejects(requireArchivable(store, { agent: 'one', record: 'sparse' }), NotLayered)
  // As in a restore, a file of others gives nobody the rights of its owner.
  await recordOf('others', { tool: { content: 'x', owner: false, mode: 0o4755 } })
  await assert.rejects(requireArchivable(store, { agent: 'one', record: 'others' }), NotLayered)
  const folders: Record<string, Made> = {}
  for (let depth = 1; depth <= 20; depth += 1)
    folders[Array(depth).fill('d'.repeat(200)).join('/')] = { kind: 'folder' }
  await recordOf('deep', folders)
  await assert.rejects(requireArchivable(store, { agent: 'one', record: 'deep' }), NotLayered)
})

test('a base with the differences of two random trees shows the second one', async () => {
  const containers = createDockerContainers(engine.line.url, { install: engine.mark, network: engine.mark })
  const { layers } = containers
  assert.ok(layers)
  for (let seed = 1; seed <= 3; seed += 1) {
    const random = randomOf(seed)
    const [agent, name] = [`seed-${seed}`, `${engine.mark}-${seed}`]
    const home = join(root, agent)
    mkdirSync(home)
    changeTree(home, random, 60)
    await recordOf('before', madeOf(readTree(home)), agent)
    changeTree(home, random, 40)
    const tree = readTree(home)
    await recordOf('after', madeOf(tree), agent)
    const [before, after] = ['before', 'after'].map((record) => ({ agent, record })) as [RecordId, RecordId]
    const difference = await differenceOf(store, before, after)
    assert.ok(difference)
    const common = { labels: {}, image: engine.image }
    const now = new Date('2026-01-02T03:04:05Z')
    await layers.fill(`${name}-whole`, { ...common, archive: archiveOfRecord(store, before, now) })
    await layers.fill(`${name}-difference`, {
      ...{ ...common, on: `${name}-whole` },
      archive: archiveOfDifference(store, after, difference, now),
    })
    await layers.add(name, { base: `${name}-difference`, labels: {} })
    const mounts = [{ type: 'volume', volume: name, target: '/home/developer' } as const]
    const { id } = await containers.create(specOf(engine.image, 'stay', { mounts }))
    await containers.start(id)
    const found = readTree((await engine.docker.getVolume(name).inspect()).Mountpoint)
    for (const path of ['.roost', '.tmp', '.ssh', 'shared-in', 'shared-out']) found.delete(path)
    for (const each of [found, tree]) each.delete('')
    const sorted = (each: Tree) => [...each].sort(([a], [b]) => (a < b ? -1 : 1))
    assert.deepEqual(sorted(found), sorted(tree), `seed ${seed}`)
    await containers.remove(id)
    await assert.rejects(containers.removeVolume(`${name}-difference`), hasFault('volume_in_use'))
    await containers.removeVolume(name)
    await assert.rejects(containers.removeVolume(`${name}-whole`), hasFault('volume_in_use'))
    for (const kind of ['difference', 'whole']) await containers.removeVolume(`${name}-${kind}`)
  }
})

function madeOf(tree: Tree): Record<string, Made> {
  const entries = [...tree].filter(([path]) => path !== '').sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries)
}
