import { type AcceptedType, acceptedTypes } from '@roost/contracts/runs/attachments'

/** Other media types that clients send for an accepted type. */
const aliases: Record<string, AcceptedType> = {
  'image/jpg': 'image/jpeg',
  'text/x-markdown': 'text/markdown',
  'application/csv': 'text/csv',
  'application/x-zip-compressed': 'application/zip',
}

export function acceptedType(mimetype: string): AcceptedType | undefined {
  const type = (mimetype.split(';', 1)[0] ?? '').trim().toLowerCase()
  return acceptedTypes.find((accepted) => accepted === type) ?? aliases[type]
}

/** Returns the base64 part of raw base64 or of a `data:` URI; null for anything else. */
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

export function decodedSize(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return (base64.length / 4) * 3 - padding
}

/**
 * Signatures of formats whose bytes could pass as text: offset and hex bytes. Most other binary formats
 * contain zero bytes.
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

/** Describes what the content is instead, as the end of a sentence; null when it matches the type. */
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

/** Text in UTF-8 or a single-byte encoding has no zero bytes; UTF-16 starts with a byte order mark. */
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

/** Last segment of a path, without control characters, short enough for a file system. */
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
  const extension = ending.length <= 20 ? ending : ''
  let room = maxNameBytes - Buffer.byteLength(extension)
  let short = ''
  for (const character of stem) {
    room -= Buffer.byteLength(character)
    // Stops early: a name may be as long as a whole message.
    if (room < 0) break
    short += character
  }
  return short + extension
}

/** Adds a number to a name that is used already, and remembers the result in `usedNames`. */
export function freeName(name: string, usedNames: Set<string>): string {
  const { stem, ending } = parts(name)
  let free = name
  for (let number = 2; usedNames.has(free.toLowerCase()); number += 1) free = `${stem}-${number}${ending}`
  usedNames.add(free.toLowerCase())
  return free
}

function parts(name: string): { stem: string; ending: string } {
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? { stem: name, ending: '' } : { stem: name.slice(0, dot), ending: name.slice(dot) }
}
