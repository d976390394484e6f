import { randomUUID } from 'node:crypto'
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CredentialsWrite, maxCredentialFiles } from '@roost/contracts/link/credentials'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'

export type Staging = {
  /** Appends a chunk to a file of the upload. Throws `file_too_large` above `maxBytes`. */
  write(piece: Omit<CredentialsWrite, 't'>, maxBytes: number): Promise<void>
  /** Hands over the temporary files of an upload, by target path. The caller deletes them. */
  take(uploadId: string): Map<string, string>
}

type Upload = { files: Map<string, { part: string; size: number }>; cancel: () => void }

const uploadTimeoutMs = 2 * 60_000
const maxUploads = 8

/** Stages uploads as private files on the volume of their targets. */
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
    if (uploads.size >= maxUploads) throw new LinkFault('io_error', 'Too many concurrent uploads.')
    const upload = { files: new Map(), cancel: () => {} }
    uploads.set(id, upload)
    return upload
  }

  return {
    async write({ upload_id, path, offset, data_base64 }, maxBytes) {
      const upload = uploadOf(upload_id)
      upload.cancel()
      upload.cancel = clock.after(uploadTimeoutMs, () => forget(upload_id))
      const bytes = Buffer.from(data_base64, 'base64')
      const file = upload.files.get(path)
      if (offset !== (file?.size ?? 0))
        throw new LinkFault(
          'invalid_message',
          'The chunk does not continue the upload at the expected offset.',
        )
      if (offset + bytes.length > maxBytes)
        throw new LinkFault('file_too_large', `${path} is larger than ${maxBytes} bytes.`)
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
      if (!upload) throw new LinkFault('invalid_message', 'The upload does not exist or has expired.')
      upload.cancel()
      uploads.delete(id)
      return new Map([...upload.files].map(([path, { part }]) => [path, part]))
    },
  }
}
