import { constants } from 'node:fs'
import { open, readlink, stat } from 'node:fs/promises'
import type { FileRead, FileReadAnswer, FileStatAnswer } from '@roost/contracts/link/files'
import { fileChunkBytes } from '@roost/contracts/link/messages'
import { LinkFault } from '../link/link.ts'
import { inodeOf, protectedInodes, refusal, refuseReading } from './floor.ts'
import { asFault, outside, type Paths } from './paths.ts'

export async function statFile(paths: Paths, path: string, isGuarded = false): Promise<FileStatAnswer> {
  const real = await paths.existing(path)
  if (isGuarded) refuseReading(paths, real, path)
  const found = await stat(real).catch((error: unknown) => {
    throw asFault(error, path)
  })
  return {
    type: found.isDirectory() ? 'directory' : 'file',
    size: found.size,
    modified: found.mtime.toISOString(),
    mode: found.mode & 0o7777,
  }
}

/** A chunk of a file, at most 256 KiB; `size` is the whole file's. */
export async function readChunk(paths: Paths, request: Omit<FileRead, 't'>): Promise<FileReadAnswer> {
  const real = await paths.existing(request.path)
  const closed = request.guarded ? await protectedInodes(paths) : null
  return readPiece(real, request, (opened, inode) => {
    // What was opened may be something else than what was looked at: the agent works in the same folder.
    if (!paths.isInside(opened)) throw outside(request.path)
    if (closed) refuseReading(paths, opened, request.path)
    if (closed?.has(inode)) throw refusal(request.path)
  })
}

/** `check` sees the real path of what was opened, and which file it is. Pipes and devices are refused: reading one could wait for ever. */
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
    const wanted = Math.min(Math.max(0, length), fileChunkBytes, Math.max(0, found.size - offset))
    const buffer = Buffer.alloc(wanted)
    let filled = 0
    while (filled < wanted) {
      const { bytesRead } = await file.read(buffer, filled, wanted - filled, offset + filled)
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
