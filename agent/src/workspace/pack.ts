import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isClosed, isOwnersAlone } from '@roost/contracts/link/credentials'
import type { FilePackAnswer, FileReadAnswer, FileReadPack } from '@roost/contracts/link/files'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'
import { asFault, isDirectory, type Paths } from './paths.ts'
import { inodeOf, protectedInodes, refusal, refuseReading } from './protected.ts'
import { readPiece } from './read.ts'

/** Packs folders as tar.gz for downloads. */
export type Packer = {
  /**
   * Omits the platform's files. `isGuarded`: the requester must not see credentials. Stray credential files are
   * omitted too; a folder with the workspace's own, under any name, is refused.
   */
  pack(path: string, maxBytes: number, isGuarded?: boolean): Promise<FilePackAnswer>
  read(request: Omit<FileReadPack, 't'>): Promise<FileReadAnswer>
}

const archiveLifetimeMs = 10 * 60_000
const maxPacks = 8
const packTimeoutMs = 60_000

/** `folder` is on the workspace's volume and used for nothing else. */
export function createPacker(paths: Paths, folder: string, clock: Clock): Packer {
  const packs = new Map<string, { file: string; cancel: () => void }>()

  async function forget(handle: string): Promise<void> {
    const pack = packs.get(handle)
    if (!pack) return
    packs.delete(handle)
    pack.cancel()
    await rm(pack.file, { force: true })
  }

  async function make(real: string, file: string, withheld: string[]): Promise<void> {
    const args = [
      '--create',
      '--gzip',
      // The SSH server's keys belong to another user; unreadable files are left out.
      '--ignore-failed-read',
      '--anchored',
      '--no-wildcards',
      '--exclude-from=-',
      `--file=${file}`,
      `--directory=${dirname(real)}`,
      '--',
      basename(real),
    ]
    const code = await new Promise<number | null>((resolve) => {
      const tar = spawn('tar', args, { stdio: ['pipe', 'ignore', 'ignore'], timeout: packTimeoutMs })
      tar.once('error', () => resolve(null))
      tar.once('exit', resolve)
      // If tar does not start, its own error is reported instead.
      tar.stdin.once('error', () => {})
      tar.stdin.end(withheld.map((path) => `${relative(dirname(real), path)}\n`).join(''))
    })
    // Code 1: a file changed while being read, as in a working agent.
    if (code !== 0 && code !== 1) throw new LinkFault('io_error', 'The directory could not be packed.')
  }

  return {
    async pack(path, maxBytes, isGuarded = false) {
      const real = await paths.existing(path)
      refuseReading(paths, real, { path, guarded: isGuarded })
      if (!(await isDirectory(real))) throw new LinkFault('not_a_directory', `${path} is not a directory.`)
      if (packs.size >= maxPacks) throw new LinkFault('io_error', 'Too many directories are being packed.')
      const closed = isGuarded ? await protectedInodes(paths) : none
      const withheld: string[] = []
      const isExcluded = (found: string) => {
        const inside = relative(paths.home, found)
        if (!isClosed(inside) && !(isGuarded && isOwnersAlone(inside))) return false
        // tar reads one name per line.
        if (found.includes('\n')) throw refusal(path)
        withheld.push(found)
        return true
      }
      const check = (inode: string) => {
        if (closed.has(inode)) throw refusal(path)
      }
      if ((await sizeOf(real, maxBytes, { isExcluded, check })) > maxBytes)
        throw new LinkFault('file_too_large', `${path} holds more than ${maxBytes} bytes.`)
      await mkdir(folder, { recursive: true })
      const handle = randomUUID()
      const file = join(folder, `${handle}.tar.gz`)
      packs.set(handle, { file, cancel: clock.after(archiveLifetimeMs, () => void forget(handle)) })
      try {
        await make(real, file, withheld)
        return { handle, size: (await stat(file)).size }
      } catch (error) {
        await forget(handle)
        throw asFault(error, path)
      }
    },
    async read({ handle, offset, length }) {
      const pack = packs.get(handle)
      if (!pack) throw new LinkFault('file_not_found', 'The package does not exist or has expired.')
      const piece = await readPiece(pack.file, { offset, length })
      // A completely read archive is deleted, because it may contain credentials.
      if (piece.eof) await forget(handle)
      return piece
    },
  }
}

const none: ReadonlySet<string> = new Set()

/** Unreadable folders count as 0 bytes; refusals are rethrown. */
function unlessRefused(error: unknown): number {
  if (error instanceof LinkFault) throw error
  return 0
}

/** Sums the sizes of included files below a folder; stops above `max`. */
async function sizeOf(
  folder: string,
  max: number,
  filter: { isExcluded: (path: string) => boolean; check: (inode: string) => void },
): Promise<number> {
  let total = 0
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    const file = entry.isFile() ? await lstat(path).catch(() => null) : null
    if (file) filter.check(inodeOf(file))
    if (filter.isExcluded(path)) continue
    if (entry.isDirectory()) total += await sizeOf(path, max - total, filter).catch(unlessRefused)
    total += file?.size ?? 0
    if (total > max) break
  }
  return total
}
