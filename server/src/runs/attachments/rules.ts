import {
  type AcceptedType,
  acceptedTypes,
  type FileAttachment,
  maxFileBytes,
  maxFiles,
  maxImageBytes,
} from '@roost/contracts/runs/attachments'
import { Fault } from '../../kit/fault.ts'

/** A file that passed every rule. */
export type CheckedFile = { name: string; mimetype: AcceptedType; size: number; data_base64: string }

/**
 * The files of one message, checked: number, type, encoding, size, and that the bytes are what the type
 * says. Throws `attachment_rejected` or `attachment_too_large` with the file's name; nothing is kept then.
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
  const taken = new Set<string>()
  const checked = files.map((file) => checkFile(file, taken))
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

function checkFile(file: FileAttachment, taken: Set<string>): CheckedFile {
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
  if (found) throw rejected(file.name, `"${shownName(file.name)}" says it is ${mimetype}, but ${found}.`)
  return { name: freeName(cleanName(file.name), taken), mimetype, size, data_base64 }
}

/** Other names under which clients send an accepted type. */
const aliases: Record<string, AcceptedType> = {
  'image/jpg': 'image/jpeg',
  'text/x-markdown': 'text/markdown',
  'application/csv': 'text/csv',
  'application/x-zip-compressed': 'application/zip',
}

function acceptedType(mimetype: string): AcceptedType | undefined {
  const type = (mimetype.split(';', 1)[0] ?? '').trim().toLowerCase()
  return acceptedTypes.find((accepted) => accepted === type) ?? aliases[type]
}

/** The base64 of raw base64 or of a `data:` URI; null when it is neither. */
export function rawBase64(data: string): string | null {
  let text = data
  if (/^data:/i.test(data)) {
    const comma = data.indexOf(',')
    if (comma < 0 || !/;base64$/i.test(data.slice(0, comma))) return null
    text = data.slice(comma + 1)
  }
  const compact = /\s/.test(text) ? text.replaceAll(/\s/g, '') : text
  return compact.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(compact) ? compact : null
}

function decodedSize(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return (base64.length / 4) * 3 - padding
}

/**
 * Marks of formats whose bytes may pass for text, in hex, with where they stand; most other formats show
 * themselves by their zero bytes.
 */
const formats: readonly { name: string; marks: readonly (readonly [at: number, hex: string])[] }[] = [
  { name: 'image/png', marks: [[0, '89504e470d0a1a0a']] },
  { name: 'image/jpeg', marks: [[0, 'ffd8ff']] },
  { name: 'image/gif', marks: [[0, '474946383761']] },
  { name: 'image/gif', marks: [[0, '474946383961']] },
  {
    name: 'image/webp',
    marks: [
      [0, '52494646'],
      [8, '57454250'],
    ],
  },
  { name: 'application/zip', marks: [[0, '504b0304']] },
  { name: 'application/zip', marks: [[0, '504b0506']] },
  { name: 'application/zip', marks: [[0, '504b0708']] },
  { name: 'a PDF', marks: [[0, '255044462d']] },
  { name: 'gzip', marks: [[0, '1f8b']] },
  { name: 'a RAR archive', marks: [[0, '526172211a07']] },
  { name: 'a 7-Zip archive', marks: [[0, '377abcaf271c']] },
]

/** What the bytes are instead, as the end of a sentence; null when they fit the type. */
export function contradiction(type: AcceptedType, bytes: Buffer): string | null {
  const found = formats.find(({ marks }) =>
    marks.every(([at, hex]) => bytes.toString('hex', at, at + hex.length / 2) === hex),
  )
  if (type.startsWith('image/') || type === 'application/zip') {
    if (found?.name === type) return null
    return found ? `its bytes are ${found.name}` : 'its bytes are something else'
  }
  if (found) return `its bytes are ${found.name}`
  if (!isText(bytes)) return 'its bytes are not text'
  return type === 'application/json' && !isJson(bytes) ? 'its text is not JSON' : null
}

/** Text in any encoding of a byte or UTF-8 has no zero bytes; UTF-16 says so at its start. */
function isText(bytes: Buffer): boolean {
  const start = bytes.toString('hex', 0, 2)
  return start === 'fffe' || start === 'feff' || !bytes.includes(0)
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return true
  } catch {
    return false
  }
}

/** The last part of a path, without control characters, short enough for a file system. */
export function cleanName(name: string): string {
  const last = name.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  const clean = last.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').trim()
  if (clean === '' || clean === '.' || clean === '..') return 'file'
  return shorten(clean)
}

const maxNameBytes = 200

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= maxNameBytes) return name
  const { stem, ending } = parts(name)
  const kept = ending.length <= 20 ? ending : ''
  let room = maxNameBytes - Buffer.byteLength(kept)
  let short = ''
  for (const character of stem) {
    room -= Buffer.byteLength(character)
    // What follows is not looked at: a name may be as long as a whole message.
    if (room < 0) break
    short += character
  }
  return short + kept
}

function freeName(name: string, taken: Set<string>): string {
  const { stem, ending } = parts(name)
  let free = name
  for (let number = 2; taken.has(free.toLowerCase()); number += 1) free = `${stem}-${number}${ending}`
  taken.add(free.toLowerCase())
  return free
}

function parts(name: string): { stem: string; ending: string } {
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? { stem: name, ending: '' } : { stem: name.slice(0, dot), ending: name.slice(dot) }
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
