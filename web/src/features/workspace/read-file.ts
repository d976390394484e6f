import { maxFileWriteBytes, previewFile } from '@roost/contracts/agents/workspace'
import { type Client, errorOf } from '@roost/contracts/client'
import { mediaTypeOf } from './file-type.ts'
import { absolutePath, nameOf } from './paths.ts'
import { decodeText, type EditableText, toEditable } from './text-file.ts'

export type FileContent =
  | ({ kind: 'text'; size: number } & EditableText)
  /** The beginning of a text that is too long to edit. */
  | { kind: 'long'; size: number; text: string }
  | { kind: 'image'; size: number; blob: Blob }
  /** Audio or video, by its name. */
  | { kind: 'media'; size: number; blob: Blob }
  | { kind: 'pdf'; size: number; blob: Blob }
  | { kind: 'binary'; size: number }
  /** Above the platform's download limit. */
  | { kind: 'huge' }

/** Images, PDF, audio and video above it are not shown. */
export const maxShownBytes = 20 * 1024 * 1024
/** The shown part of a long text. */
export const shownBytes = 1024 * 1024

/**
 * Classifies a file by its content. Only images keep the MIME type of the platform; other text is shown as
 * text.
 */
export async function readFile(
  api: Client,
  name: string,
  path: string,
  signal?: AbortSignal,
): Promise<FileContent> {
  const open = (headers: Record<string, string> = {}) =>
    api.open(previewFile, { params: { name }, query: { path: absolutePath(path) }, headers, signal })
  const response = await open()
  if (response.status === 413) return { kind: 'huge' }
  if (!response.ok) throw await errorOf(response)
  const size = Number(response.headers.get('content-length') ?? 0)
  const type = response.headers.get('content-type') ?? ''
  const isImage = type.startsWith('image/')
  if (isImage && size <= maxShownBytes) return { kind: 'image', size, blob: await response.blob() }
  if (type.startsWith('application/pdf') && size <= maxShownBytes) {
    return { kind: 'pdf', size, blob: await response.blob() }
  }
  const mediaType = mediaTypeOf(nameOf(path))
  if (mediaType !== null && size <= maxShownBytes) {
    return { kind: 'media', size, blob: new Blob([await response.arrayBuffer()], { type: mediaType }) }
  }
  if (isImage || mediaType !== null) return binary(response, size)
  if (size > maxFileWriteBytes) {
    await response.body?.cancel()
    const beginning = await open({ range: `bytes=0-${shownBytes - 1}` })
    if (!beginning.ok) throw await errorOf(beginning)
    const text = decodeText(new Uint8Array(await beginning.arrayBuffer()), true)
    return text === null ? { kind: 'binary', size } : { kind: 'long', size, text }
  }
  const bytes = new Uint8Array(await response.arrayBuffer())
  const text = decodeText(bytes)
  if (text === null) return { kind: 'binary', size: bytes.length }
  return { kind: 'text', size: bytes.length, ...toEditable(text) }
}

async function binary(response: Response, size: number): Promise<FileContent> {
  await response.body?.cancel()
  return { kind: 'binary', size }
}
