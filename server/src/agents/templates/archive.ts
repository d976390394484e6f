import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../../kit/fault.ts'
import { archiveEnd, encoding, paddingOf, type TarEntry, writeHeader } from '../../kit/tar.ts'
import { contentBounds } from './git-content.ts'

/** A folder as a tar archive that is never stored: any part of it can be read, in any process with that folder. */
export type FolderArchive = {
  /** Changes when a file is added, removed or written. */
  version: string
  size: number
  /** At most `length` bytes from `offset`. Throws `ArchiveChanged`. */
  read(offset: number, length: number): Promise<Buffer>
}

/** A file of the folder was changed after the archive was opened. */
export class ArchiveChanged extends Error {
  constructor(path: string) {
    super(`${path} was changed while it was being read`)
    this.name = 'ArchiveChanged'
  }
}

/** `start`: where its header begins in the archive; `content`: where its header ends. */
type Part = { entry: TarEntry; path: string; modifiedMs: number; start: number; content: number }

/**
 * Names are sorted and times are not part of the archive, so equal folders give equal bytes. Special files are left
 * out. Throws `template_unresolvable` beyond the limits of a template.
 */
export async function openFolderArchive(folder: string): Promise<FolderArchive> {
  const parts: Part[] = []
  let bytes = 0
  let end = 0

  async function add(name: string): Promise<void> {
    const path = join(folder, name)
    const found = await lstat(path)
    const entry = { path: latin(name), link: '', size: 0, mode: found.mode & fileMode, modified: 0 }
    if (found.isDirectory()) {
      append({ ...entry, type: 'folder' }, path, found.mtimeMs)
      await addAll(name)
    } else if (found.isSymbolicLink()) {
      append({ ...entry, type: 'symlink', mode: 0o777, link: latin(await readlink(path)) }, path, 0)
    } else if (found.isFile()) append({ ...entry, type: 'file', size: found.size }, path, found.mtimeMs)
  }

  async function addAll(name: string): Promise<void> {
    for (const child of (await readdir(join(folder, name))).sort())
      await add(name === '' ? child : `${name}/${child}`)
  }

  function append(entry: TarEntry, path: string, modifiedMs: number): void {
    const content = end + writeHeader(entry).length
    parts.push({ entry, path, modifiedMs, start: end, content })
    bytes += entry.size
    end = content + entry.size + paddingOf(entry.size)
    if (parts.length > contentBounds.entries)
      throw tooLarge(`contains more than ${contentBounds.entries} files and folders`)
    if (bytes > contentBounds.bytes) throw tooLarge('has files that are together larger than 100 MiB')
  }

  await addAll('')
  const digest = createHash('sha256')
  for (const { entry, modifiedMs } of parts) digest.update(`${JSON.stringify(entry)} ${modifiedMs}\n`)
  const size = end + archiveEnd.length

  return {
    version: digest.digest('hex').slice(0, 32),
    size,
    async read(offset, length) {
      const until = Math.min(offset + length, size)
      // Padding and the end mark are zeros.
      const result = Buffer.alloc(Math.max(0, until - offset))
      for (let index = lastBefore(parts, offset); index < parts.length; index += 1) {
        const part = parts[index]
        if (!part || part.start >= until) break
        if (part.content > offset) copyAt(writeHeader(part.entry), part.start - offset, result)
        const [from, to] = [Math.max(offset, part.content), Math.min(until, part.content + part.entry.size)]
        if (from < to) await readInto(part, from - part.content, result.subarray(from - offset, to - offset))
      }
      return result
    },
  }
}

/** Without write permission for others and without set-id bits. */
const fileMode = 0o755

/** Names in archives are bytes. */
const latin = (name: string) => Buffer.from(name).toString(encoding)

function tooLarge(what: string): Fault {
  return new Fault('template_unresolvable', `The template cannot become a workspace: it ${what}.`)
}

/** Index of the last part that starts at or before `offset`. */
function lastBefore(parts: readonly Part[], offset: number): number {
  let [low, high] = [0, parts.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((parts[middle]?.start ?? 0) <= offset) low = middle
    else high = middle
  }
  return low
}

/** Copies the overlap of `source`, which begins at `at` of the target. */
function copyAt(source: Buffer, at: number, target: Buffer): void {
  source.copy(target, Math.max(0, at), Math.max(0, -at))
}

async function readInto({ path, entry, modifiedMs }: Part, position: number, target: Buffer): Promise<void> {
  // A link in place of a file would lead elsewhere.
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  const { size, mtimeMs } = await file.stat()
  if (size !== entry.size || mtimeMs !== modifiedMs) throw new ArchiveChanged(path)
  for (let done = 0; done < target.length; ) {
    const { bytesRead } = await file.read(target, done, target.length - done, position + done)
    if (bytesRead === 0) throw new ArchiveChanged(path)
    done += bytesRead
  }
}
