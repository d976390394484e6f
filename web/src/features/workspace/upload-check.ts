import { maxFileWriteBytes } from '@roost/contracts/agents/workspace'
import { isProtected, joinPath, visibleName } from './paths.ts'
import { decodeText } from './text-file.ts'

export type Upload = { path: string; name: string; text: string }

/** The part of a dropped file that is looked at. */
export type OfferedFile = Pick<File, 'name' | 'size' | 'arrayBuffer'>

/** What of the files may be saved into the folder, and for each other one why not. */
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
  if (file.size > maxFileWriteBytes) return `${shown} is too large: a file may have 5 MB.`
  if (isProtected(path)) return `${shown} is protected and cannot be written by hand.`
  const bytes = await file.arrayBuffer().catch(() => null)
  if (bytes === null) return `${shown} could not be read; folders have to be dropped file by file.`
  const text = decodeText(new Uint8Array(bytes))
  return text === null
    ? `${shown} is not text in UTF-8; other files reach the agent as attachments of a chat.`
    : { path, name: file.name, text }
}
