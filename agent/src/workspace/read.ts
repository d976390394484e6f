import { constants } from 'node:fs'
import { type FileHandle, open, readlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { FileRead, FileReadAnswer, FileStatAnswer } from '@roost/contracts/link/files'
import { fileChunkBytes } from '@roost/contracts/link/messages'
import { LinkFault } from '../link/link.ts'
import { inFolder, openEntry, openFolder } from './open-folder.ts'
import { asFault, outside, type Paths } from './paths.ts'
import { inodeOf, protectedInodes, refusal, refuseReading } from './protected.ts'

export async function statFile(paths: Paths, path: string, isGuarded = false): Promise<FileStatAnswer> {
  const real = await paths.existing(path)
  refuseReading(paths, real, { path, guarded: isGuarded })
  try {
    await using opened = await openReal(paths.home, real)
    const found = await opened.stat()
    return {
      type: found.isDirectory() ? 'directory' : 'file',
      size: found.size,
      modified: found.mtime.toISOString(),
      mode: found.mode & 0o7777,
    }
  } catch (error) {
    throw asFault(error, path)
  }
}

async function openReal(home: string, real: string): Promise<FileHandle> {
  if (real === home) return await openFolder(home, home)
  await using folder = await openFolder(home, dirname(real))
  return await openEntry(inFolder(folder, basename(real)))
}

/** Returns a chunk of a file, at most 256 KiB; `size` is the size of the whole file. */
export async function readChunk(paths: Paths, request: Omit<FileRead, 't'>): Promise<FileReadAnswer> {
  const real = await paths.existing(request.path)
  const closed = request.guarded ? await protectedInodes(paths) : null
  return readPiece(real, request, (opened, inode) => {
    // Checks the opened file again: the agent may have replaced it after the path check.
    if (!paths.isInside(opened)) throw outside(request.path)
    refuseReading(paths, opened, request)
    if (closed?.has(inode)) throw refusal(request.path)
  })
}

/**
 * `check` receives the real path and inode of the opened file. Refuses pipes and devices, which could block.
 */
export async function readPiece(
  path: string,
  { offset, length }: { offset: number; length: number },
  check: (opened: string, inode: string) => void = () => {},
): Promise<FileReadAnswer> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const found = await file.stat()
    check(await readlink(`/proc/self/fd/${file.fd}`), inodeOf(found))
    if (!found.isFile()) throw new LinkFault('not_a_file', `${path} is not a file.`)
    const byteCount = Math.min(Math.max(0, length), fileChunkBytes, Math.max(0, found.size - offset))
    const buffer = Buffer.alloc(byteCount)
    let filled = 0
    while (filled < byteCount) {
      const { bytesRead } = await file.read(buffer, filled, byteCount - filled, offset + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return {
      data_base64: buffer.toString('base64', 0, filled),
      size: found.size,
      eof: offset + filled >= found.size,
    }
  } catch (error) {
    throw asFault(error, path)
  }
}
