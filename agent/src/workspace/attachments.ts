import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { RunAttachment } from '@roost/contracts/link/runs'
import type { TurnInput } from '../runtimes/port.ts'
import { inFolder, openFolder } from './open-folder.ts'
import { createPaths } from './paths.ts'
import { refuseChange } from './protected.ts'
import { othersMark, placeBeside } from './write.ts'

export type AttachmentPlaces = {
  /** Folder at the top of the workspace, or of the turn's scratch folder, for files from people. */
  uploads: string
  /** Folder outside the workspace for images, which some CLIs read from files. */
  images: string
  /** Staging folder on the workspace's volume. */
  parts: string
}

/** Reads the attachment at `index` if it was too large for the claim. */
export type ReadAttachment = (index: number) => Promise<Buffer>

/**
 * Converts a run's message and files to runtime input. Images go to the model. Other files are written to
 * `uploads/` under a free name and listed in the message.
 */
export async function placeAttachments(
  message: string,
  attachments: RunAttachment[],
  places: AttachmentPlaces,
  read: ReadAttachment,
): Promise<TurnInput> {
  const images: TurnInput['images'] = []
  const files: string[] = []
  for (const [index, attachment] of attachments.entries()) {
    const bytes = attachment.data_base64 === null ? await read(index) : decode(attachment.data_base64)
    if (attachment.mimetype.startsWith('image/')) {
      const path = join(places.images, `image-${images.length + 1}${imageExtension(attachment)}`)
      await mkdir(places.images, { recursive: true })
      await writeFile(path, bytes)
      images.push({ mimetype: attachment.mimetype, data: bytes.toString('base64'), path })
      continue
    }
    const path = await placeFile(bytes, attachment.name, places)
    files.push(`- ${path} (${attachment.mimetype}, ${bytes.length} bytes)`)
  }
  const text = files.length === 0 ? message : `${message}\n\nAttached files:\n${files.join('\n')}`
  return { text, images }
}

async function placeFile(bytes: Buffer, name: string, { uploads, parts }: AttachmentPlaces): Promise<string> {
  await mkdir(parts, { recursive: true })
  const part = join(parts, randomUUID())
  try {
    await writeFile(part, bytes, { mode: 0o644 | othersMark })
    await using folder = await openUploads(uploads, plainName(name))
    const placed = await placeBeside(part, inFolder(folder, plainName(name)))
    return join(uploads, basename(placed))
  } finally {
    await rm(part, { force: true })
  }
}

/** A link in its place is followed like any other: only inside the workspace, and not to files that runs obey. */
async function openUploads(uploads: string, name: string): Promise<FileHandle> {
  const paths = await createPaths(dirname(uploads))
  const real = await paths.target(uploads)
  refuseChange(paths, join(real, name), { path: uploads, guarded: true })
  return await openFolder(paths.home, real, 0o777)
}

function decode(data: string): Buffer {
  return Buffer.from(data.replace(/^data:[^,]*,/, ''), 'base64')
}

function plainName(name: string): string {
  const plain = basename(name.replaceAll('\\', '/').replace(/[\x00-\x1f\x7f]/g, '')).trim()
  return plain === '' || plain === '.' || plain === '..' ? 'file' : plain.slice(-200)
}

function imageExtension({ name, mimetype }: RunAttachment): string {
  const extension = extname(name).toLowerCase()
  return /^\.(png|jpe?g|gif|webp)$/.test(extension) ? extension : `.${mimetype.slice('image/'.length)}`
}
