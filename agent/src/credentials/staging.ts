import { randomUUID } from 'node:crypto'
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CredentialsWrite, maxCredentialFiles } from '@roost/contracts/link/credentials'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'

export type Staging = {
  /** Appends a piece to a file of the upload. Throws `file_too_large` above `mostBytes`. */
  write(piece: Omit<CredentialsWrite, 't'>, mostBytes: number): Promise<void>
  /** The parts of an upload by their paths; they are the caller's from now on. */
  take(uploadId: string): Map<string, string>
}

type Upload = { files: Map<string, { part: string; size: number }>; cancel: () => void }

const forgottenMs = 2 * 60_000
const mostUploads = 8

/** Files on their way, closed to others, on the volume where they will lie. */
export function createStaging(folder: string, clock: Clock): Staging {
  const uploads = new Map<string, Upload>()

  function forget(id: string): void {
    const upload = uploads.get(id)
    uploads.delete(id)
    for (const { part } of upload?.files.values() ?? []) void rm(part, { force: true })
  }

  function uploadOf(id: string): Upload {
    const present = uploads.get(id)
    if (present) return present
    if (uploads.size >= mostUploads) throw new LinkFault('io_error', 'Too many uploads at once.')
    const upload = { files: new Map(), cancel: () => {} }
    uploads.set(id, upload)
    return upload
  }

  return {
    async write({ upload_id, path, offset, data_base64 }, mostBytes) {
      const upload = uploadOf(upload_id)
      upload.cancel()
      upload.cancel = clock.after(forgottenMs, () => forget(upload_id))
      const bytes = Buffer.from(data_base64, 'base64')
      const file = upload.files.get(path)
      if (offset !== (file?.size ?? 0))
        throw new LinkFault('invalid_message', 'The piece does not follow the one before it.')
      if (offset + bytes.length > mostBytes)
        throw new LinkFault('file_too_large', `${path} is larger than ${mostBytes} bytes.`)
      if (file) {
        file.size += bytes.length
        return appendFile(file.part, bytes)
      }
      if (upload.files.size >= maxCredentialFiles)
        throw new LinkFault('file_too_large', `There are more than ${maxCredentialFiles} files.`)
      const part = join(folder, randomUUID())
      upload.files.set(path, { part, size: bytes.length })
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(part, bytes, { flag: 'wx', mode: 0o600 })
    },
    take(id) {
      const upload = uploads.get(id)
      if (!upload) throw new LinkFault('invalid_message', 'There is no such upload.')
      upload.cancel()
      uploads.delete(id)
      return new Map([...upload.files].map(([path, { part }]) => [path, part]))
    },
  }
}
