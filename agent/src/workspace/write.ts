import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, copyFile, type FileHandle, link, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { FileWrite, FileWriteAnswer } from '@roost/contracts/link/files'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'
import { asFault, codeOf, isDirectory, type Paths } from './paths.ts'
import { folderMode, refuseChange } from './protected.ts'

/** Writes files in chunks; a file appears under its name complete or not at all. */
export type Writer = {
  write(request: Omit<FileWrite, 't'>): Promise<FileWriteAnswer>
}

type Upload = { file: FileHandle; part: string; size: number; cancel: () => void }

const uploadTimeoutMs = 10 * 60_000
const maxUploads = 64
const maxNameAttempts = 1000

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

  async function place(request: Omit<FileWrite, 't'>, upload: Upload): Promise<string> {
    const target = await paths.target(request.path)
    refuseChange(paths, target, request)
    if (await isDirectory(target)) throw new LinkFault('not_a_file', `${request.path} is a directory.`)
    await mkdir(dirname(target), { recursive: true, mode: folderMode(paths, target) })
    const before = await stat(target).catch(() => null)
    const mode = request.mode ?? (before && request.on_conflict === 'replace' ? before.mode & 0o777 : 0o644)
    await upload.file.chmod(mode & 0o777)
    if (request.on_conflict === 'rename') return await placeBeside(upload.part, target)
    await move(upload.part, target)
    return target
  }

  return {
    async write(request) {
      try {
        const upload = await append(request)
        const { size } = upload
        if (!request.last) return { path: request.path, size }
        const target = await place(request, upload)
        return { path: join(dirname(request.path), basename(target)), size }
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

/** Gives the file a second name. Throws `EEXIST` when the name is taken. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    // The target is on another volume.
    if (codeOf(error) !== 'EXDEV') throw error
    await copyFile(from, to, constants.COPYFILE_EXCL)
    await chmod(to, (await stat(from)).mode & 0o777)
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
      await copyFile(from, near, constants.COPYFILE_EXCL)
      await chmod(near, (await stat(from)).mode & 0o777)
      await rename(near, to)
    } finally {
      await rm(near, { force: true })
    }
  }
}
