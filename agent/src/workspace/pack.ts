import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { type FileHandle, lstat, mkdir, open, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isClosed, isOwnersAlone } from '@roost/contracts/link/credentials'
import type { FilePackAnswer, FileReadAnswer, FileReadPack } from '@roost/contracts/link/files'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'
import type { Identities } from '../processes/identity.ts'
import { inFolder, openChild, openFolder } from './open-folder.ts'
import { asFault, type Paths } from './paths.ts'
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

/** `folder` is private and used for nothing else. */
export function createPacker(paths: Paths, folder: string, identities: Identities, clock: Clock): Packer {
  const packs = new Map<string, { file: string; cancel: () => void }>()

  async function forget(handle: string): Promise<void> {
    const pack = packs.get(handle)
    if (!pack) return
    packs.delete(handle)
    pack.cancel()
    await rm(pack.file, { force: true })
  }

  async function make(parent: FileHandle, name: string, withheld: string[]): Promise<FilePackAnswer> {
    if (packs.size >= maxPacks) throw new LinkFault('io_error', 'Too many directories are being packed.')
    await mkdir(folder, { recursive: true })
    const handle = randomUUID()
    const file = join(folder, `${handle}.tar.gz`)
    packs.set(handle, { file, cancel: clock.after(archiveLifetimeMs, () => void forget(handle)) })
    try {
      await using archive = await open(file, 'wx', 0o600)
      await runTar(parent, name, archive, withheld)
      return { handle, size: (await archive.stat()).size }
    } catch (error) {
      await forget(handle)
      throw error
    }
  }

  /** Runs as the owner of the workspace. tar itself opens each folder without following links. */
  async function runTar(parent: FileHandle, name: string, to: FileHandle, withheld: string[]): Promise<void> {
    const { command, args, options } = identities.as(identities.developer, 'tar', [
      '--create',
      '--gzip',
      // The SSH server's keys belong to another user; unreadable files are left out.
      '--ignore-failed-read',
      '--anchored',
      '--no-wildcards',
      '--exclude-from=-',
      '--file=-',
      '--',
      name,
    ])
    const code = await new Promise<number | null>((resolve) => {
      const tar = spawn(command, args, {
        ...options,
        cwd: inFolder(parent),
        stdio: ['pipe', to.fd, 'ignore'],
        env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
        timeout: packTimeoutMs,
      })
      tar.once('error', () => resolve(null))
      tar.once('exit', resolve)
      // If tar does not start, its own error is reported instead.
      tar.stdin?.once('error', () => {})
      tar.stdin?.end(withheld.map((path) => `${path}\n`).join(''))
    })
    // Code 1: a file changed while being read, as in a working agent.
    if (code !== 0 && code !== 1) throw new LinkFault('io_error', 'The directory could not be packed.')
  }

  return {
    async pack(path, maxBytes, isGuarded = false) {
      const real = await paths.existing(path)
      refuseReading(paths, real, { path, guarded: isGuarded })
      const closed = isGuarded ? await protectedInodes(paths) : none
      const withheld: string[] = []
      const isExcluded = (found: string) => {
        const inside = relative(paths.home, found)
        if (!isClosed(inside) && !(isGuarded && isOwnersAlone(inside))) return false
        // tar reads one name per line.
        if (found.includes('\n')) throw refusal(path)
        withheld.push(relative(dirname(real), found))
        return true
      }
      const check = (inode: string) => {
        if (closed.has(inode)) throw refusal(path)
      }
      try {
        await using parent = await openParent(paths.home, real)
        const place = { path: inFolder(parent, basename(real)), real }
        if ((await sizeOf(place, maxBytes, { isExcluded, check })) > maxBytes)
          throw new LinkFault('file_too_large', `${path} holds more than ${maxBytes} bytes.`)
        return await make(parent, basename(real), withheld)
      } catch (error) {
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

/** The workspace itself is a mount point, so no turn can replace it. */
function openParent(home: string, real: string): Promise<FileHandle> {
  return real === home ? openChild(dirname(real)) : openFolder(home, dirname(real))
}

/** Sums the sizes of included files below a folder; stops above `max`. `path` leads through an opened folder. */
async function sizeOf(
  { path, real }: { path: string; real: string },
  max: number,
  filter: { isExcluded: (real: string) => boolean; check: (inode: string) => void },
): Promise<number> {
  let total = 0
  await using folder = await openChild(path)
  for (const entry of await readdir(inFolder(folder), { withFileTypes: true })) {
    const found = { path: inFolder(folder, entry.name), real: join(real, entry.name) }
    const file = entry.isFile() ? await lstat(found.path).catch(() => null) : null
    if (file) filter.check(inodeOf(file))
    if (filter.isExcluded(found.real)) continue
    if (entry.isDirectory()) total += await sizeOf(found, max - total, filter).catch(unlessRefused)
    total += file?.size ?? 0
    if (total > max) break
  }
  return total
}
