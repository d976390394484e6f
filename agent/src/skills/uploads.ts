import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { maxSkillBytes } from '@roost/contracts/link/messages'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'

/** Uploads in chunks, stored in a private folder until complete. */
export type Uploads = {
  append(id: string, offset: number, bytes: Buffer): Promise<void>
  /** Returns the received bytes and ends the upload. */
  take(id: string): Promise<Buffer>
  forget(id: string): Promise<void>
}

type Upload = { path: string; size: number; cancel: () => void }

const uploadTimeoutMs = 5 * 60_000
const maxUploads = 8

export function createUploads(folder: string, clock: Clock): Uploads {
  const uploads = new Map<string, Upload>()

  async function forget(id: string) {
    const upload = uploads.get(id)
    if (!upload) return
    uploads.delete(id)
    upload.cancel()
    await rm(upload.path, { force: true })
  }

  async function start(id: string): Promise<Upload> {
    await forget(id)
    if (uploads.size >= maxUploads) throw new LinkFault('io_error', 'Too many concurrent skill uploads.')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const upload = { path: join(folder, randomUUID()), size: 0, cancel: () => {} }
    uploads.set(id, upload)
    return upload
  }

  return {
    async append(id, offset, bytes) {
      const upload = offset === 0 ? await start(id) : uploads.get(id)
      if (!upload || upload.size !== offset)
        throw new LinkFault(
          'invalid_message',
          'The chunk does not continue the upload at the expected offset.',
        )
      if (offset + bytes.length > maxSkillBytes)
        throw new LinkFault('file_too_large', `A skill has at most ${maxSkillBytes} bytes.`)
      upload.cancel()
      upload.cancel = clock.after(uploadTimeoutMs, () => void forget(id))
      const file = await open(upload.path, 'a', 0o600)
      try {
        await file.writeFile(bytes)
      } finally {
        await file.close()
      }
      upload.size += bytes.length
    },
    async take(id) {
      const upload = uploads.get(id)
      if (!upload) throw new LinkFault('invalid_message', 'The upload does not exist or has expired.')
      try {
        return await readFile(upload.path)
      } finally {
        await forget(id)
      }
    },
    forget,
  }
}
