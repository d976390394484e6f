import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, type FileHandle, link, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { FileWrite, FileWriteAnswer } from '@roost/contracts/link/files'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'
import { inFolder, openFolder } from './open-folder.ts'
import { asFault, codeOf, type Paths } from './paths.ts'
import { folderMode, refuseChange } from './protected.ts'

/** Writes files in chunks; a file appears under its name complete or not at all. */
export type Writer = {
  write(request: Omit<FileWrite, 't'>): Promise<FileWriteAnswer>
}

type Upload = { file: FileHandle; part: string; size: number; cancel: () => void }

const uploadTimeoutMs = 10 * 60_000
const maxUploads = 64
const maxNameAttempts = 1000
/** Files that runs obey count as the owner's only without it. A turn may move any file to such a path. */
export const othersMark = 0o020

/** `parts` is a private folder, used for nothing else. */
export function createWriter(paths: Paths, parts: string, clock: Clock): Writer {
  const uploads = new Map<string, Upload>()

  async function start(id: string): Promise<Upload> {
    if (uploads.size >= maxUploads) throw new LinkFault('io_error', 'Too many concurrent uploads.')
    await mkdir(parts, { recursive: true })
    const part = join(parts, randomUUID())
    const file = await open(part, 'wx', 0o600)
    const upload = { file, part, size: 0, cancel: () => {} }
    uploads.set(id, upload)
    return upload
  }

  async function forget(id: string) {
    const upload = uploads.get(id)
    if (!upload) return
    uploads.delete(id)
    upload.cancel()
    await upload.file.close()
    await rm(upload.part, { force: true })
  }

  async function append(request: Omit<FileWrite, 't'>): Promise<Upload> {
    if (request.offset === 0) await forget(request.upload_id)
    const upload =
      uploads.get(request.upload_id) ?? (request.offset === 0 ? await start(request.upload_id) : null)
    if (!upload || upload.size < request.offset)
      throw new LinkFault('invalid_message', 'The chunk does not continue the upload at the expected offset.')
    upload.cancel()
    upload.cancel = clock.after(uploadTimeoutMs, () => void forget(request.upload_id))
    const bytes = Buffer.from(request.data_base64, 'base64')
    await writeAt(upload.file, bytes, request.offset)
    upload.size = Math.max(upload.size, request.offset + bytes.length)
    if (request.last) await upload.file.truncate(request.offset + bytes.length)
    return upload
  }

  /** Returns the name of the file. */
  async function place(request: Omit<FileWrite, 't'>, upload: Upload): Promise<string> {
    const target = await paths.target(request.path)
    refuseChange(paths, target, request)
    const isFolder = () => new LinkFault('not_a_file', `${request.path} is a directory.`)
    if (target === paths.home) throw isFolder()
    await using folder = await openFolder(paths.home, dirname(target), folderMode(paths, target))
    const at = inFolder(folder, basename(target))
    const before = await lstat(at).catch(() => null)
    if (before?.isDirectory()) throw isFolder()
    const usual = before?.isFile() && request.on_conflict === 'replace' ? before.mode : 0o644
    const mode = (request.mode ?? usual) & 0o777
    await upload.file.chmod(request.guarded ? mode | othersMark : mode)
    if (request.on_conflict === 'rename') return basename(await placeBeside(upload.part, at))
    await move(upload.part, at)
    return basename(target)
  }

  return {
    async write(request) {
      try {
        const upload = await append(request)
        const { size } = upload
        if (!request.last) return { path: request.path, size }
        return { path: join(dirname(request.path), await place(request, upload)), size }
      } catch (error) {
        await forget(request.upload_id)
        throw asFault(error, request.path)
      } finally {
        if (request.last) await forget(request.upload_id)
      }
    },
  }
}

/** A client that lost its connection repeats chunks, and the lost ones may still arrive. */
async function writeAt(file: FileHandle, bytes: Buffer, offset: number): Promise<void> {
  let done = 0
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, offset + done)
    done += bytesWritten
  }
}

/** Uses the first free name of `a.txt`, `a-1.txt`, `a-2.txt`, …; creation is exclusive. */
export async function placeBeside(part: string, target: string): Promise<string> {
  const extension = extname(target)
  const stem = target.slice(0, target.length - extension.length)
  for (let count = 0; count < maxNameAttempts; count += 1) {
    const name = count === 0 ? target : `${stem}-${count}${extension}`
    try {
      await linkOrCopy(part, name)
      return name
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
  throw new LinkFault('io_error', 'No free name was found.')
}

/** Gives the file a second name. Throws `EEXIST` when the name is taken, and `ELOOP` for a link on another volume. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    // The target is on another volume.
    if (codeOf(error) !== 'EXDEV') throw error
    // The copy has the mode, too. A path is used once: a turn may replace both meanwhile.
    await using source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if (!(await source.stat()).isFile()) throw error
    await copyFile(`/proc/self/fd/${source.fd}`, to, constants.COPYFILE_EXCL)
  }
}

/** Also between volumes, where the file appears under its name complete or not at all. */
export async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error
    const near = join(dirname(to), `.${basename(to).slice(0, 100)}.${randomUUID()}.part`)
    try {
      // With the mode, which must not be set by path: a turn may replace the copy.
      await copyFile(from, near, constants.COPYFILE_EXCL)
      await rename(near, to)
    } finally {
      await rm(near, { force: true })
    }
  }
}
