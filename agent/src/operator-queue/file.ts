import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, readlink, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { maxQueueBytes, type QueueUpdate } from '@roost/contracts/link/queue'
import { isObject, type Json, parseObject } from '../kit/json.ts'
import { inFolder, openFolder } from '../workspace/open-folder.ts'
import { codeOf, outside, type Paths } from '../workspace/paths.ts'

/** The file with the agent's requests to operators, below the workspace. */
export const queueFile = '.roost/operator-queue.json'

/** `mark` changes with every change of the file. */
export type QueueDocument =
  | { kind: 'absent'; mark: string }
  | { kind: 'unreadable'; mark: string; reason: string }
  | { kind: 'read'; mark: string; document: Json; requests: unknown[] }

export type QueueFile = {
  /** Reads only the file's metadata. */
  mark(): Promise<string>
  read(): Promise<QueueDocument>
  /**
   * Replaces the file atomically, applying `updates` to its entries and keeping everything else. Returns
   * false when the agent has changed the file since it was read.
   */
  write(from: QueueDocument & { kind: 'read' }, updates: readonly QueueUpdate[]): Promise<boolean>
}

const absent = 'absent'

export function createQueueFile(paths: Paths): QueueFile {
  const file = join(paths.home, queueFile)

  async function mark(): Promise<string> {
    try {
      return markOf(await stat(await paths.existing(file), { bigint: true }))
    } catch {
      return absent
    }
  }

  async function read(): Promise<QueueDocument> {
    const current = await mark()
    if (current === absent) return { kind: 'absent', mark: absent }
    const unreadable = (reason: string) => ({ kind: 'unreadable', mark: current, reason }) as const
    try {
      const text = await readText(paths, await paths.existing(file))
      if (text === null) return unreadable('The file is larger than 1 MiB or not a regular file.')
      const document = parseObject(text)
      if (!document) return unreadable('The file is not a JSON object.')
      if (!Array.isArray(document.requests)) return unreadable('The field "requests" is not a list.')
      return { kind: 'read', mark: current, document, requests: document.requests }
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return { kind: 'absent', mark: absent }
      return unreadable('The file cannot be opened.')
    }
  }

  return {
    mark,
    read,
    async write(from, updates) {
      const target = await paths.target(file)
      await using folder = await openFolder(paths.home, dirname(target))
      const place = inFolder(folder, basename(target))
      const { uid, gid, mode } = await lstat(place)
      const part = inFolder(folder, `.operator-queue.${randomUUID()}.part`)
      const text = `${JSON.stringify(updated(from, updates), null, 2)}\n`
      try {
        await using file = await open(part, 'wx', 0o600)
        await file.writeFile(text)
        await file.chmod(mode & 0o777)
        // Keeps the owner of the file, who may be another user than this program.
        if (process.getuid?.() !== uid || process.getgid?.() !== gid) await file.chown(uid, gid)
        if ((await mark()) !== from.mark) return false
        await rename(part, place)
        return true
      } finally {
        await rm(part, { force: true })
      }
    },
  }
}

function markOf({ ino, size, mtimeNs }: { ino: bigint; size: bigint; mtimeNs: bigint }): string {
  return `${ino}:${size}:${mtimeNs}`
}

/** Returns null when the file is too large or not a regular file. */
async function readText(paths: Paths, path: string): Promise<string | null> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  // Checks the opened file again: the agent may have replaced it after the path check.
  if (!paths.isInside(await readlink(`/proc/self/fd/${file.fd}`))) throw outside(path)
  const found = await file.stat()
  if (!found.isFile() || found.size > maxQueueBytes) return null
  return (await file.readFile()).toString('utf8')
}

/** Returns the document with final states in its entries; other fields stay. */
export function updated(
  { document, requests }: Pick<QueueDocument & { kind: 'read' }, 'document' | 'requests'>,
  updates: readonly QueueUpdate[],
): Json {
  const byId = new Map(updates.map(({ id, ...state }) => [id, state]))
  return {
    ...document,
    requests: requests.map((entry) => {
      if (!isObject(entry) || typeof entry.id !== 'string') return entry
      const state = byId.get(entry.id)
      return state ? { ...entry, ...state } : entry
    }),
  }
}
