import { maxFileWriteBytes } from '@roost/contracts/agents/workspace'
import { isProtected, joinPath, visibleName } from './paths.ts'
import { decodeText } from './text-file.ts'

export type Upload = { path: string; name: string; text: string }

/** The members of a dropped file that are used. */
export type OfferedFile = Pick<File, 'name' | 'size' | 'arrayBuffer'>

/** Splits dropped files into those that can be saved, and refusals with a reason. */
export async function checkUploads(
  files: readonly OfferedFile[],
  folder: string,
): Promise<{ uploads: Upload[]; refusals: string[] }> {
  const uploads: Upload[] = []
  const refusals: string[] = []
  for (const file of files) {
    const checked = await check(file, joinPath(folder, file.name))
    if (typeof checked === 'string') refusals.push(checked)
    else uploads.push(checked)
  }
  return { uploads, refusals }
}

async function check(file: OfferedFile, path: string): Promise<Upload | string> {
  const shown = `“${visibleName(file.name)}”`
  if (file.size > maxFileWriteBytes) return `${shown} is too large: a file can have at most 5 MB.`
  if (isProtected(path)) return `${shown} is protected and cannot be uploaded.`
  const bytes = await file.arrayBuffer().catch(() => null)
  if (bytes === null) return `${shown} could not be read. Drop the files of a folder individually.`
  const text = decodeText(new Uint8Array(bytes))
  return text === null
    ? `${shown} is not UTF-8 text. Attach other files to a chat message.`
    : { path, name: file.name, text }
}
