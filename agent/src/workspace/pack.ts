import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isOwnersAlone } from '@roost/contracts/link/credentials'
import type { FilePackAnswer, FileReadAnswer, FileReadPack } from '@roost/contracts/link/files'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'
import { inodeOf, protectedInodes, refusal } from './floor.ts'
import { asFault, isDirectory, type Paths } from './paths.ts'
import { readPiece } from './read.ts'

/** Folders as tar.gz for a download. */
export type Packer = {
  /**
   * `isGuarded`: whoever asks may not see credentials. Those that lie about are left out; a folder with the
   * workspace's own, under any name, is refused.
   */
  pack(path: string, maxBytes: number, isGuarded?: boolean): Promise<FilePackAnswer>
  read(request: Omit<FileReadPack, 't'>): Promise<FileReadAnswer>
}

const keptMs = 10 * 60_000
const mostPacks = 8
const packTimeoutMs = 60_000

/** `folder` is on the workspace's volume and holds nothing else. */
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
      // The keys of the SSH server are another user's: what cannot be read is left out.
      '--ignore-failed-read',
      `--exclude=${join(basename(real), relative(real, folder))}`,
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
      // A tar that does not start reads nothing; its error says so already.
      tar.stdin.once('error', () => {})
      tar.stdin.end(withheld.map((path) => `${relative(dirname(real), path)}\n`).join(''))
    })
    // 1: a file changed while it was read, as files of a working agent do.
    if (code !== 0 && code !== 1) throw new LinkFault('io_error', 'The directory could not be packed.')
  }

  return {
    async pack(path, maxBytes, isGuarded = false) {
      const real = await paths.existing(path)
      if (!(await isDirectory(real))) throw new LinkFault('not_a_directory', `${path} is not a directory.`)
      if (packs.size >= mostPacks) throw new LinkFault('io_error', 'Too many directories are being packed.')
      const closed = isGuarded ? await protectedInodes(paths) : none
      const withheld: string[] = []
      const isLeftOut = (found: string) => {
        if (!isGuarded || !isOwnersAlone(relative(paths.home, found))) return false
        // Names are handed to tar one a line.
        if (found.includes('\n')) throw refusal(path)
        withheld.push(found)
        return true
      }
      const check = (inode: string) => {
        if (closed.has(inode)) throw refusal(path)
      }
      if ((await sizeOf(real, maxBytes, { isLeftOut, check })) > maxBytes)
        throw new LinkFault('file_too_large', `${path} holds more than ${maxBytes} bytes.`)
      await mkdir(folder, { recursive: true })
      const handle = randomUUID()
      const file = join(folder, `${handle}.tar.gz`)
      packs.set(handle, { file, cancel: clock.after(keptMs, () => void forget(handle)) })
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
      if (!pack) throw new LinkFault('file_not_found', 'There is no such package any more.')
      const piece = await readPiece(pack.file, { offset, length })
      // Read to its end it has done its work, and what it holds is not left lying about.
      if (piece.eof) await forget(handle)
      return piece
    },
  }
}

const none: ReadonlySet<string> = new Set()

/** What cannot be read counts nothing; a refusal stays one. */
function unlessRefused(error: unknown): number {
  if (error instanceof LinkFault) throw error
  return 0
}

/** Bytes of all files below that are not left out; stops counting above `max`. */
async function sizeOf(
  folder: string,
  max: number,
  look: { isLeftOut: (path: string) => boolean; check: (inode: string) => void },
): Promise<number> {
  let total = 0
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    const file = entry.isFile() ? await lstat(path).catch(() => null) : null
    if (file) look.check(inodeOf(file))
    if (look.isLeftOut(path)) continue
    if (entry.isDirectory()) total += await sizeOf(path, max - total, look).catch(unlessRefused)
    total += file?.size ?? 0
    if (total > max) break
  }
  return total
}
