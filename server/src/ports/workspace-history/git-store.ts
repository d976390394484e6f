import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPause } from '../../kit/pause.ts'
import { openContents } from './contents.ts'
import { differencesOf } from './differences.ts'
import { openDraft } from './draft.ts'
import { createFolders, readFolder, type StoredFolder } from './folders.ts'
import { createObjects } from './objects.ts'
import { type RecordId, type StoredEntry, UnknownRecord, type WorkspaceHistory } from './port.ts'
import { createGitProgram } from './program.ts'
import { createTextDiff } from './text-diff.ts'
import { joined } from './tree.ts'

export type GitStoreOptions = {
  /** Absolute path; created if missing. */
  folder: string
  /** PATH of git. */
  path: string
}

const idForm = /^[a-z0-9-]{1,64}$/
/** Larger contents are streamed by a process of their own. */
const maxHeldBytes = 1024 * 1024
const fewContents = 8
/** Each record is a pack of its own. Above this number, finding an object becomes slow. */
export const maxPacks = 200
/** Header and checksum of a pack. */
const packFrameBytes = 44
/** Garbage is collected when it has this share of all contents, at the latest after a day. */
const minGarbageShare = 0.1
export const maxGarbageMs = 24 * 3_600_000

/** History in one bare repository. Several processes may use it, also on several nodes if its volume has file locks. */
export async function openGitStore({ folder, path }: GitStoreOptions): Promise<WorkspaceHistory> {
  const repository = join(folder, 'objects.git')
  const incoming = join(folder, 'incoming')
  const lockFile = join(folder, 'lock')
  for (const each of [folder, incoming]) await mkdir(each, { recursive: true, mode: 0o700 })
  await (await open(lockFile, 'a', 0o600)).close()
  const git = createGitProgram(repository, lockFile, path)
  const init = ['init', '--quiet', '--bare', '--object-format=sha256', '--template=', repository]
  await git.run(init, { lock: 'exclusive' })
  const id = await identityIn(folder)
  const objects = createObjects(git)
  const due = join(folder, 'collect-due')
  const closing = new AbortController()
  let sweeping: Promise<void> | null = null
  // A killed process may have left something.
  await markDue()
  sweep()
  const textDiff = createTextDiff(git, objects)

  function sweep(): void {
    sweeping ??= git
      .removeUnfinished(closing.signal)
      // A collection removes it, too.
      .catch(markDue)
      .catch(() => {})
      .finally(() => {
        sweeping = null
      })
  }

  /** The time of the first mark counts, so that frequent removals do not put a collection off. */
  async function markDue(): Promise<void> {
    await (await open(due, 'a')).close()
  }

  async function dueSince(): Promise<number | null> {
    return stat(due).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    )
  }

  async function diskUsage(refs: readonly string[], input = ''): Promise<number> {
    return Number((await git.run(['rev-list', '--objects', '--disk-usage', ...refs], { input })).toString())
  }

  async function packSizes(): Promise<number[]> {
    const folder = join(repository, 'objects', 'pack')
    const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.pack'))
    // Another process may collect meanwhile.
    return Promise.all(
      names.map(async (name) => (await stat(join(folder, name)).catch(() => null))?.size ?? 0),
    )
  }

  async function contentBytes(): Promise<{ all: number; garbage: number }> {
    // First, because a record that is made meanwhile must not count as garbage.
    const packs = await packSizes()
    const all = packs.reduce((sum, size) => sum + Math.max(0, size - packFrameBytes), 0)
    return { all, garbage: Math.max(0, all - (await diskUsage(['--all']))) }
  }

  async function isCollectWorthIt(): Promise<boolean> {
    const since = await dueSince()
    if (since === null) return false
    if (Date.now() - since >= maxGarbageMs) return true
    const { all, garbage } = await contentBytes()
    return garbage > 0 && garbage >= all * minGarbageShare
  }

  async function collect(): Promise<void> {
    await rm(due, { force: true })
    try {
      await git.run(['pack-refs', '--all'], { lock: 'exclusive' })
      await git.run(['repack', '-a', '-d', '-q'], { lock: 'exclusive' })
      await git.run(['prune', '--expire=now'], { lock: 'exclusive' })
    } catch (error) {
      await markDue()
      throw error
    }
    // Reports of records that ended early.
    for (const name of await readdir(repository))
      if (name.startsWith('fast_import_crash_')) await rm(join(repository, name), { force: true })
  }

  async function treeOf({ agent, record }: RecordId): Promise<string | null> {
    if (!idForm.test(agent) || !idForm.test(record)) return null
    return (await objects.find(`refs/records/${agent}/${record}^{tree}`))?.name ?? null
  }

  async function remove(agent: string, records: readonly string[]): Promise<void> {
    if (!idForm.test(agent)) return
    const valid = records.filter((record) => idForm.test(record))
    const input = valid.map((record) => `delete refs/records/${agent}/${record}\n`).join('')
    if (input === '') return
    await markDue()
    await git.run(['update-ref', '--stdin'], { input })
    // A collection may have ended in between.
    await markDue()
  }

  async function requireTree(id: RecordId): Promise<string> {
    const tree = await treeOf(id)
    if (tree === null) throw new UnknownRecord(id.record)
    return tree
  }

  return {
    id: async () => id,

    async open({ agent, base, baseAgent = agent, maxBytes }) {
      if (!idForm.test(agent)) throw new UnknownRecord(agent)
      const tree = base === null ? null : await requireTree({ agent: baseAgent, record: base })
      const draft = openDraft({
        ...{ git, objects, incoming, agent, base: tree, maxBytes },
        discarded: sweep,
      })
      return {
        ...draft,
        async commit(record) {
          if (!idForm.test(record)) throw new UnknownRecord(record)
          const receivedBytes = await draft.commit(record)
          return { receivedBytes, isChanged: (await requireTree({ agent, record })) !== tree }
        },
      }
    },

    async list(id, inside) {
      const tree = await treeOf(id)
      const found = tree === null ? null : await createFolders(objects, tree).folder(inside)
      if (!found) return null
      return (await entriesIn(inside, found)).sort((a, b) => (a.path < b.path ? -1 : 1))
    },

    async entry(id, inside) {
      const tree = await treeOf(id)
      return tree === null ? null : entryAt(createFolders(objects, tree), inside)
    },

    async entries(id, paths) {
      const folders = createFolders(objects, await requireTree(id))
      return Promise.all(paths.map((path) => entryAt(folders, path)))
    },

    sizes: (entries) =>
      Promise.all(
        entries.map(async ({ kind, content }) =>
          kind === 'folder' ? 0 : ((await objects.find(content))?.size ?? 0),
        ),
      ),

    textDiff,

    async read(id, inside) {
      const tree = await treeOf(id)
      const entry = tree === null ? null : await createFolders(objects, tree).entry(inside)
      if (!entry || entry.kind === 'folder') return null
      return contentOf(entry.content)
    },

    async *readAll(id, items) {
      const folders = createFolders(objects, await requireTree(id))
      const entries = await Promise.all(items.map(({ path }) => folders.entry(path)))
      const names = entries.map((entry) => (entry && entry.kind !== 'folder' ? entry.content : null))
      const asked = names.filter((name) => name !== null)
      // A process of its own takes longer than a few questions to the running one.
      const contents = asked.length > fewContents ? openContents(git) : null
      try {
        contents?.ask(asked)
        for (const [at, item] of items.entries()) {
          const name = names[at] ?? null
          if (name === null || !contents) {
            yield { item, pieces: name === null ? null : await contentOf(name) }
            continue
          }
          const { pieces } = await contents.next()
          yield { item, pieces }
          for await (const _ of pieces) {
            // Skips what the caller did not read.
          }
        }
      } finally {
        await contents?.close()
      }
    },

    async *walk(id, { withContents }) {
      const contents = withContents ? openContents(git) : null
      try {
        const pause = createPause()
        const pending = [{ path: '', tree: await requireTree(id) }]
        for (let next = pending.pop(); next; next = pending.pop()) {
          const { path, tree } = next
          const entries = await entriesIn(path, await readFolder(objects, tree))
          contents?.ask(entries.flatMap(({ kind, content }) => (kind === 'folder' ? [] : [content])))
          for (const entry of entries) {
            if (entry.kind === 'folder') pending.push({ path: entry.path, tree: entry.content })
            const found = entry.kind === 'folder' ? undefined : await contents?.next()
            yield { entry, size: found?.size ?? 0 }
            if (found) yield* found.pieces
            await pause()
          }
        }
      } finally {
        await contents?.close()
      }
    },

    async changes(from, to) {
      const [before, after] = await Promise.all([requireTree(from), requireTree(to)])
      return differencesOf(objects, before, after)
    },

    usedBytes: async (agent) => (idForm.test(agent) ? diskUsage([`--glob=refs/records/${agent}/*`]) : 0),

    async bytesOf(records) {
      const valid = records.filter(({ agent, record }) => idForm.test(agent) && idForm.test(record))
      if (valid.length === 0) return 0
      const input = valid.map(({ agent, record }) => `refs/records/${agent}/${record}\n`).join('')
      return diskUsage(['--ignore-missing', '--stdin'], input)
    },

    size: () => bytesIn(repository),

    garbage: async () => (await contentBytes()).garbage,

    async records() {
      const format = '--format=%(refname:lstrip=2)'
      const names = (await git.run(['for-each-ref', format, 'refs/records'])).toString().split('\n')
      return names.filter(Boolean).map((name) => {
        const [agent = '', record = ''] = name.split('/')
        return { agent, record }
      })
    },

    async copy(from, to) {
      if ([from, to].some(({ agent, record }) => !idForm.test(agent) || !idForm.test(record)))
        throw new UnknownRecord(from.record)
      const refOf = ({ agent, record }: RecordId) => `refs/records/${agent}/${record}`
      const found = await objects.find(refOf(from))
      if (!found) throw new UnknownRecord(from.record)
      await git.run(['update-ref', refOf(to), found.name], { lock: 'shared' })
    },

    remove,

    async removeAll(agent) {
      if (!idForm.test(agent)) return
      const names = ['for-each-ref', '--format=%(refname:lstrip=3)', `refs/records/${agent}`]
      await remove(agent, (await git.run(names)).toString().split('\n').filter(Boolean))
    },

    collect,

    async maintain() {
      if (await isCollectWorthIt()) return collect()
      if ((await packSizes()).length <= maxPacks) return
      await git.run(['pack-refs', '--all'], { lock: 'exclusive' })
      // Unlike `-a`, it keeps what no record needs, and leaves large packs alone.
      await git.run(['repack', '--geometric=2', '-d', '-q'], { lock: 'exclusive' })
    },

    async close() {
      closing.abort()
      await sweeping
      await objects.close()
    },
  }

  /** Gives the entries of a folder that was just read their paths. */
  async function entriesIn(folder: string, { children }: StoredFolder): Promise<StoredEntry[]> {
    const entries: StoredEntry[] = []
    const pause = createPause()
    for (const { name, ...entry } of children.values()) {
      entries.push({ ...entry, path: joined(folder, name) })
      await pause()
    }
    return entries
  }

  async function entryAt(
    folders: ReturnType<typeof createFolders>,
    path: string,
  ): Promise<StoredEntry | null> {
    const found = await folders.entry(path)
    if (!found) return null
    const { name: _, ...entry } = found
    return { ...entry, path }
  }

  async function contentOf(name: string): Promise<AsyncIterable<Buffer>> {
    const found = await objects.find(name)
    if (!found) throw new Error(`The object ${name} is missing in the history.`)
    if (found.size > maxHeldBytes) return streamOf(name)
    return once((await objects.read(name)) ?? Buffer.alloc(0))
  }

  async function* streamOf(name: string): AsyncGenerator<Buffer> {
    const { child, ended, kill } = git.start(['cat-file', 'blob', name])
    try {
      child.stdin.end()
      yield* child.stdout
      const fault = await ended
      if (fault !== null) throw new Error(`The object ${name} could not be read: ${fault}`)
    } finally {
      kill()
    }
  }
}

/** Returns the identity in the folder, which gets one the first time. */
async function identityIn(folder: string): Promise<string> {
  const file = join(folder, 'id')
  const known = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  if (known !== '') return known
  const draft = `${file}-${randomUUID()}`
  await writeFile(draft, randomUUID(), { mode: 0o600, flush: true })
  // Unlike a rename, a link never replaces the identity that another process has just written.
  await link(draft, file).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') await rename(draft, file)
  })
  await rm(draft, { force: true })
  return readFile(file, 'utf8')
}

/** Bytes of all files. What vanishes meanwhile, by a repack or with the records of an agent, does not count. */
async function bytesIn(folder: string): Promise<number> {
  const gone =
    <T>(instead: T) =>
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return instead
      throw error
    }
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(gone([]))) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await bytesIn(path)
    else if (entry.isFile()) bytes += (await stat(path).catch(gone(null)))?.size ?? 0
  }
  return bytes
}

async function* once(content: Buffer): AsyncGenerator<Buffer> {
  if (content.length > 0) yield content
}
