import {
  type AcceptedType,
  acceptedTypes,
  type FileAttachment,
  maxFileBytes,
  maxFiles,
  maxImageBytes,
} from '@roost/contracts/runs/attachments'
import { Fault } from '../../kit/fault.ts'
import { acceptedType, cleanName, contradiction, decodedSize, freeName, rawBase64 } from './rules.ts'

/** A file that passed every rule. */
export type CheckedFile = { name: string; mimetype: AcceptedType; size: number; data_base64: string }

/**
 * Checks the files of one message: count, type, encoding, size, and that the content matches the type. Throws
 * `attachment_rejected` or `attachment_too_large` with the file's name; then no file is stored.
 */
export function checkFiles(files: readonly FileAttachment[]): CheckedFile[] {
  if (files.length > maxFiles) {
    const named = files
      .slice(maxFiles)
      .map((file) => `"${shownName(file.name)}"`)
      .join(', ')
    throw rejected(
      files[maxFiles]?.name ?? '',
      `A message takes ${maxFiles} files; too many are ${named.slice(0, 500)}.`,
    )
  }
  const usedNames = new Set<string>()
  const checked = files.map((file) => checkFile(file, usedNames))
  const images = checked.filter(({ mimetype }) => mimetype.startsWith('image/'))
  const imageBytes = images.reduce((sum, { size }) => sum + size, 0)
  const last = images.at(-1)
  if (imageBytes > maxImageBytes && last) {
    throw tooLarge(
      last.name,
      `with it the images of this message are larger than ${maxImageBytes / mib} MB together`,
    )
  }
  return checked
}

const mib = 1024 * 1024

function checkFile(file: FileAttachment, usedNames: Set<string>): CheckedFile {
  const mimetype = acceptedType(file.mimetype)
  if (!mimetype) {
    const type = file.mimetype.slice(0, 100)
    throw rejected(
      file.name,
      `"${shownName(file.name)}": files of type "${type}" are not accepted; accepted are ${acceptedTypes.join(', ')}.`,
    )
  }
  const data_base64 = rawBase64(file.data_base64)
  if (data_base64 === null)
    throw rejected(file.name, `"${shownName(file.name)}": the data is not valid base64.`)
  const size = decodedSize(data_base64)
  if (size > maxFileBytes) throw tooLarge(file.name, `a file may have ${maxFileBytes / mib} MB`)
  const found = contradiction(mimetype, Buffer.from(data_base64, 'base64'))
  if (found) throw rejected(file.name, `"${shownName(file.name)}" is declared as ${mimetype}, but ${found}.`)
  return { name: freeName(cleanName(file.name), usedNames), mimetype, size, data_base64 }
}

function shownName(name: string): string {
  return cleanName(name).slice(0, 100).toWellFormed()
}

function rejected(name: string, detail: string): Fault {
  return new Fault('attachment_rejected', detail, { file: shownName(name) })
}

function tooLarge(name: string, why: string): Fault {
  return new Fault('attachment_too_large', `"${shownName(name)}" is too large: ${why}.`, {
    file: shownName(name),
  })
}
