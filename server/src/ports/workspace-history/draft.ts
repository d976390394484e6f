import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type HistoryEntry, parentOf } from '@roost/contracts/link/history'
import { createFolders, type StoredFolder } from './folders.ts'
import type { Objects } from './objects.ts'
import { type Draft, FolderTooLarge, HistoryFull, InvalidTree, maxFolderEntries } from './port.ts'
import type { GitProgram } from './program.ts'
import {
  attributesName,
  attributesOf,
  type Child,
  encoding,
  gitModeOf,
  joined,
  nameOf,
  quoted,
  quotedPath,
  segmentsOf,
} from './tree.ts'

export type DraftDeps = {
  git: GitProgram
  objects: Objects
  /** Folder for large files until their length is known. */
  incoming: string
  agent: string
  /** Tree of the base; null for none. */
  base: string | null
  maxBytes: number
  /** Called after git was killed in the middle of its work. */
  discarded(): void
}

/** `commit` returns the bytes that were received. */
type OpenDraft = Omit<Draft, 'commit'> & { commit(record: string): Promise<number> }

type OpenFolder = {
  children: Map<string, Child>
  own: StoredFolder['own']
  /** What the base has at this path, unless the folder is new. */
  before: StoredFolder | null
}

/** git needs the length of a blob before its content. Larger files wait in a file of their own. */
const maxHeldBytes = 1024 * 1024
/** What an entry needs in a tree, besides its name. */
const entryBytes = 64

/** One `git fast-import`: its pack and the record's reference appear when it ends. */
export function openDraft({
  git,
  objects,
  incoming,
  agent,
  base,
  maxBytes,
  discarded,
}: DraftDeps): OpenDraft {
  const importer = git.start(['fast-import', '--quiet', '--done', '--depth=0'], 'shared')
  const stored = createFolders(objects, base)
  const folders = new Map<string, OpenFolder>()
  /** Paths of the base that are removed or get another kind of entry. */
  const removed = new Set<string>()
  /** New files and links. */
  const placed = new Set<string>()
  let marks = 0
  let receivedBytes = 0
  let isEnded = false

  async function send(bytes: string | Buffer): Promise<void> {
    const { stdin } = importer.child
    if (stdin.destroyed) return failed()
    if (stdin.write(bytes)) return
    await Promise.race([new Promise((resolve) => stdin.once('drain', resolve)), importer.ended])
  }

  async function failed(): Promise<never> {
    throw new Error(`The record was not stored: ${(await importer.ended) ?? 'git ended early'}`)
  }

  /** Opens a folder for changes. Throws `InvalidTree` if the record has none at this path. */
  async function folderAt(path: string): Promise<OpenFolder> {
    const known = folders.get(path)
    if (known) return known
    if (path !== '') {
      const parent = await folderAt(parentOf(path))
      if (parent.children.get(nameOf(path))?.kind !== 'folder') throw new InvalidTree(path)
    }
    const before = await stored.folder(path)
    if (!before) throw new InvalidTree(path)
    const opened = { children: new Map(before.children), own: before.own, before }
    folders.set(path, opened)
    return opened
  }

  function isRemoved(path: string): boolean {
    for (let each = path; each !== ''; each = parentOf(each)) if (removed.has(each)) return true
    return false
  }

  /** Drops what was changed at this path and below. Parents of an opened folder are open, too. */
  function forget(path: string): void {
    placed.delete(path)
    const opened = folders.get(path)
    folders.delete(path)
    for (const { name, kind } of opened?.children.values() ?? [])
      if (kind === 'folder') forget(joined(path, name))
      else placed.delete(joined(path, name))
  }

  async function place(entry: HistoryEntry, content: string): Promise<void> {
    const { path } = entry
    if (path === '') throw new InvalidTree(path)
    count(entryBytes + path.length)
    const parent = await folderAt(parentOf(path))
    const name = nameOf(path)
    const before = parent.children.get(name)
    if (before && before.kind !== entry.kind) {
      removed.add(path)
      forget(path)
    }
    addChild(parent, childOf(entry, content))
    placed.add(path)
  }

  /** True if the base has exactly this entry at this path, so that the record need not mention it. */
  async function isUnchanged(entry: HistoryEntry, content: string): Promise<boolean> {
    if (isRemoved(entry.path)) return false
    const before = (await folderAt(parentOf(entry.path))).children.get(nameOf(entry.path))
    if (!before || before.kind !== entry.kind || before.content !== content) return false
    const { mode, owner, sparse } = childOf(entry, content)
    return before.mode === mode && before.owner === owner && before.sparse === sparse
  }

  async function sendBlob(entry: HistoryEntry, content: AsyncIterable<Buffer>): Promise<string> {
    marks += 1
    const head = (size: number) => `blob\nmark :${marks}\ndata ${size}\n`
    const held: Buffer[] = []
    let size = 0
    const iterator = content[Symbol.asyncIterator]()
    for (;;) {
      const { value, done } = await iterator.next()
      if (done) break
      count(value.length)
      held.push(value)
      size += value.length
      if (size > maxHeldBytes) return sendLarge(head, held, { [Symbol.asyncIterator]: () => iterator })
    }
    if (entry.kind === 'link' && size > 4096) throw new InvalidTree(entry.path)
    await send(Buffer.concat([Buffer.from(head(size)), ...held, Buffer.from('\n')]))
    return `:${marks}`
  }

  async function sendLarge(
    head: (size: number) => string,
    held: Buffer[],
    rest: AsyncIterable<Buffer>,
  ): Promise<string> {
    const name = `:${marks}`
    const path = join(incoming, randomUUID())
    await using file = await open(path, 'wx+', 0o600)
    // Without a name, it vanishes with this process.
    await rm(path)
    let size = 0
    for (const chunk of held.splice(0)) size += await append(file, chunk)
    for await (const chunk of rest) {
      count(chunk.length)
      size += await append(file, chunk)
    }
    await send(head(size))
    for await (const chunk of file.createReadStream({
      start: 0,
      highWaterMark: maxHeldBytes,
      autoClose: false,
    }))
      await send(chunk)
    await send('\n')
    return name
  }

  function count(bytes: number): void {
    receivedBytes += bytes
    if (receivedBytes > maxBytes) throw new HistoryFull()
  }

  /** Writes the difference to the base, and the attributes of every folder that was opened. */
  async function sendCommit(record: string): Promise<void> {
    await send(
      `commit refs/records/${agent}/${record}\ncommitter Roost <> 0 +0000\ndata 0\n${base ? `M 040000 ${base} ""\n` : ''}`,
    )
    for (const path of removed) await send(line('D ', quotedPath(path)))
    for (const path of placed) {
      const child = folders.get(parentOf(path))?.children.get(nameOf(path))
      if (child) await send(line(`M ${gitModeOf(child)} ${child.content} `, quotedPath(path)))
    }
    for (const [path, folder] of folders) await sendAttributes(path, folder)
    await send('\ndone\n')
  }

  async function sendAttributes(path: string, { children, own, before }: OpenFolder): Promise<void> {
    const wanted = await attributesOf(children, path === '' ? own : null)
    if (wanted === (before?.attributes ?? null)) return
    const at =
      path === ''
        ? quoted(attributesName)
        : Buffer.concat([quotedPath(path).subarray(0, -1), Buffer.from('/%"')])
    if (wanted === null) return send(line('D ', at))
    const bytes = Buffer.from(wanted, encoding)
    await send(Buffer.concat([line('M 100644 inline ', at), Buffer.from(`data ${bytes.length}\n`), bytes]))
    await send('\n')
  }

  return {
    async remove(path) {
      if (path === '') throw new InvalidTree(path)
      // Its folder may have been removed before.
      const before = await stored.entry(path)
      if (!before || isRemoved(path)) return
      const parent = await folderAt(parentOf(path))
      parent.children.delete(nameOf(path))
      removed.add(path)
      if (before.kind === 'folder') forget(path)
    },

    async folder(entry) {
      const { path, mode, owner } = entry
      count(entryBytes + path.length)
      if (path === '') {
        const root = await folderAt('')
        root.own = { mode, owner, sparse: false }
        return
      }
      const parent = await folderAt(parentOf(path))
      const name = nameOf(path)
      segmentsOf(path)
      const before = parent.children.get(name)
      if (before && before.kind !== 'folder') {
        removed.add(path)
        placed.delete(path)
      }
      addChild(parent, childOf(entry, before?.kind === 'folder' ? before.content : ''))
      if (before?.kind === 'folder') return
      folders.set(path, {
        children: new Map(),
        own: { mode: 0o755, owner: true, sparse: false },
        before: null,
      })
    },

    async keep(entry, objectName, from) {
      const known = await stored.entry(from)
      if (!known || known.kind !== entry.kind || known.kind === 'folder' || known.content !== objectName)
        return false
      if (!(await isUnchanged(entry, known.content))) await place(entry, known.content)
      return true
    },

    async keepUntouched(entries) {
      const contents = await Promise.all(
        entries.map(async ({ path, kind, size }) => {
          const known = await stored.entry(path)
          if (!known || known.kind !== kind || known.kind === 'folder') return null
          return (await objects.find(known.content))?.size === size ? known.content : null
        }),
      )
      for (const [at, entry] of entries.entries()) {
        const content = contents[at] ?? null
        if (content !== null && !(await isUnchanged(entry, content))) await place(entry, content)
      }
      return contents.map((content) => content !== null)
    },

    async put(entry, content) {
      if (entry.kind === 'folder') throw new InvalidTree(entry.path)
      segmentsOf(entry.path)
      await folderAt(parentOf(entry.path))
      await place(entry, await sendBlob(entry, content))
    },

    async commit(record) {
      await folderAt('')
      await sendCommit(record)
      importer.child.stdin.end()
      const fault = await importer.ended
      isEnded = true
      if (fault !== null) throw new Error(`The record was not stored: ${fault}`)
      return receivedBytes
    },

    async [Symbol.asyncDispose]() {
      if (isEnded) return
      isEnded = true
      importer.kill()
      await importer.ended
      discarded()
    },
  }
}

async function append(file: FileHandle, chunk: Buffer): Promise<number> {
  for (let done = 0; done < chunk.length; ) done += (await file.write(chunk, done)).bytesWritten
  return chunk.length
}

function line(start: string, path: Buffer): Buffer {
  return Buffer.concat([Buffer.from(start), path, Buffer.from('\n')])
}

function addChild({ children }: OpenFolder, child: Child): void {
  children.set(child.name, child)
  if (children.size > maxFolderEntries) throw new FolderTooLarge()
}

function childOf({ path, kind, mode, owner, sparse }: HistoryEntry, content: string): Child {
  return { name: nameOf(path), path, kind, mode: mode & 0o7777, owner, sparse, content }
}
