import { maxUploadBytes } from '@roost/contracts/agents/workspace'
import {
  type AcceptedType,
  acceptedTypes,
  type FileAttachment,
  maxFileBytes,
  maxFiles,
  maxImageBytes,
} from '@roost/contracts/runs/attachments'

/** A file that is ready to send. */
export type Attachment = Required<FileAttachment> & { id: string; mimetype: AcceptedType }

/** A file that is written to the workspace when the message is sent. */
export type WorkspaceFile = { id: string; name: string; size: number; file: File }

/** A file from the browser. */
export type OfferedFile = Pick<File, 'name' | 'type' | 'size'>

/** The `accept` attribute of the file dialog. */
export const acceptedFiles = [...acceptedTypes, '.md', '.csv', '.log', '.txt', '.json', '.zip'].join(',')

const typesByEnding: Record<string, AcceptedType> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  txt: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  zip: 'application/zip',
}

/** The MIME type to send. Browsers leave it empty for many text formats, or use other names. */
export function typeOf({ name, type }: OfferedFile): AcceptedType | null {
  const named = acceptedTypes.find((accepted) => accepted === type.split(';', 1)[0]?.trim().toLowerCase())
  if (named) return named
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''
  const isForeign = type.startsWith('image/') || type.startsWith('audio/') || type.startsWith('video/')
  return isForeign ? null : (typesByEnding[ending] ?? null)
}

/** Why a file cannot be added, as a sentence with its name; null when it can. */
export function refusalOf(present: readonly Attachment[], file: OfferedFile): string | null {
  const type = typeOf(file)
  if (type === null) return `“${file.name}” is not an image, text, JSON, CSV or ZIP file.`
  if (present.length >= maxFiles)
    return `“${file.name}” was not added: a message can have at most ${maxFiles} files.`
  if (file.size > maxFileBytes) {
    return `“${file.name}” is too large: a file can have at most ${megabytes(maxFileBytes)} MB.`
  }
  if (file.size === 0) return `“${file.name}” is empty.`
  const images = present.filter(({ mimetype }) => isImage(mimetype)).reduce((sum, { size }) => sum + size, 0)
  if (isImage(type) && images + file.size > maxImageBytes) {
    return `“${file.name}” is too large: the images of a message can have at most ${megabytes(maxImageBytes)} MB in total.`
  }
  return null
}

export function isImage(mimetype: string): boolean {
  return mimetype.startsWith('image/')
}

/** Why a file cannot be written to the workspace, as a sentence with its name; null when it can. */
export function workspaceRefusalOf({ name, size }: OfferedFile): string | null {
  if (size === 0) return `“${name}” is empty.`
  if (size <= maxUploadBytes) return null
  return `“${name}” is too large: a file in the workspace can have at most ${megabytes(maxUploadBytes)} MB.`
}

export type AddedFiles = {
  attachments: readonly Attachment[]
  workspaceFiles: readonly WorkspaceFile[]
  /** A sentence for each refused file. */
  refusals: string[]
}

/**
 * Adds the files that fit to the message. `mayWrite`: others go to the workspace, up to its limit.
 */
export async function addFiles(
  present: Pick<AddedFiles, 'attachments' | 'workspaceFiles'>,
  files: readonly File[],
  { newId, mayWrite }: { newId: () => string; mayWrite: boolean },
): Promise<AddedFiles> {
  const attachments = [...present.attachments]
  const workspaceFiles = [...present.workspaceFiles]
  const refusals: string[] = []
  for (const file of files) {
    const refusal = refusalOf(attachments, file)
    if (refusal !== null && mayWrite) {
      const fault = workspaceRefusalOf(file) ?? (await unreadable(file))
      if (fault === null) workspaceFiles.push({ id: newId(), name: file.name, size: file.size, file })
      else refusals.push(fault)
      continue
    }
    const mimetype = typeOf(file)
    const data = refusal === null ? await base64Of(file) : null
    if (refusal !== null || mimetype === null) refusals.push(refusal ?? `“${file.name}” was not accepted.`)
    else if (data === null) refusals.push(`“${file.name}” could not be read.`)
    else attachments.push({ id: newId(), name: file.name, mimetype, size: file.size, data_base64: data })
  }
  return { attachments, workspaceFiles, refusals }
}

/** The refusal of a dropped folder, and of a file that no longer exists; null for others. */
async function unreadable(file: File): Promise<string | null> {
  try {
    await file.slice(0, 1).arrayBuffer()
    return null
  } catch {
    return `“${file.name}” could not be read. Upload folders on the Files tab.`
  }
}

/** Null when the file no longer exists, or is a folder. */
async function base64Of(file: File): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const reader = new FileReader()
  reader.onload = () => resolve(typeof reader.result === 'string' ? reader.result : null)
  reader.onerror = () => resolve(null)
  reader.readAsDataURL(file)
  const url = await promise
  return url === null ? null : url.slice(url.indexOf(',') + 1)
}

function megabytes(bytes: number): number {
  return bytes / (1024 * 1024)
}
