import { Fault } from './fault.ts'

/**
 * The GNU tar format, limited to what an archive of an agent contains: files, folders, symbolic and hard links. Names
 * are bytes as characters (latin1), so that any name survives.
 */
export type TarEntry = {
  path: string
  type: 'file' | 'folder' | 'symlink' | 'hardlink'
  /** Target of a link. */
  link: string
  /** Bytes of content that follow; 0 for everything but files. */
  size: number
  /** Permissions; without set-id and sticky bits when read. */
  mode: number
  /** Seconds since 1970. */
  modified: number
  /** User id in a written header; absent for the owner of workspaces. */
  owner?: number
}

export const blockBytes = 512
export const encoding = 'latin1'
/** Of a name or target that does not fit into the header. */
export const maxNameBytes = 4096

const types = { '0': 'file', '\0': 'file', '1': 'hardlink', '2': 'symlink', '5': 'folder' } as const
const letters = { file: '0', hardlink: '1', symlink: '2', folder: '5' } as const
const longName = 'L'
const whiteout = '3'
const longLink = 'K'
const field = {
  ...({ name: [0, 100], mode: [100, 8], size: [124, 12], time: [136, 12], link: [157, 100] } as const),
  ...({ deviceMajor: [329, 8], deviceMinor: [337, 8] } as const),
}
const checksumAt = 148
const typeAt = 156
const magicAt = 257
const magic = 'ustar  \0'
const ownerId = 1000

export function invalidArchive(detail: string, cause?: unknown): Fault {
  return new Fault('invalid_archive', detail, {}, { cause })
}

/** The number of bytes that fill the last block of `size` bytes. */
export function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes
}

export function isZero(block: Buffer): boolean {
  return block.every((byte) => byte === 0)
}

/** A header block as it is; `L` and `K` announce the name and the target of the next entry as content. */
export type Header = { kind: 'entry'; entry: TarEntry } | { kind: 'long name' | 'long link'; size: number }

/** Throws `invalid_archive`. */
export function readHeader(block: Buffer): Header {
  if (numberIn(block, checksumAt, 8) !== checksumOf(block))
    throw invalidArchive('The archive is damaged: a header has a wrong checksum.')
  const letter = String.fromCharCode(block[typeAt] ?? 0)
  const path = textIn(block, field.name)
  if (block.toString(encoding, magicAt, magicAt + 8) !== magic)
    throw invalidArchive(`"${shown(path)}" is not in the GNU tar format.`)
  const size = numberIn(block, ...field.size)
  if (letter === longName || letter === longLink) {
    if (size < 1 || size > maxNameBytes) throw invalidArchive('A name in the archive is too long.')
    return { kind: letter === longName ? 'long name' : 'long link', size }
  }
  if (!Object.hasOwn(types, letter)) {
    throw invalidArchive(`"${shown(path)}" is not a file, folder or link: such entries are not accepted.`)
  }
  // Checked with `hasOwn`.
  const type = types[letter as keyof typeof types]
  if (type !== 'file' && size !== 0) throw invalidArchive(`"${shown(path)}" must not have content.`)
  const mode = numberIn(block, ...field.mode) & 0o777
  const modified = numberIn(block, ...field.time)
  const entry = { path, type, link: textIn(block, field.link), size, mode, modified }
  return { kind: 'entry', entry }
}

/** The header blocks of an entry, with those of a long name or target. Its content follows, filled to whole blocks. */
export function writeHeader(entry: TarEntry): Buffer {
  const { path, link } = entry
  return Buffer.concat([
    ...(link.length > field.link[1] ? longBlocks(longLink, link) : []),
    ...(path.length > field.name[1] ? longBlocks(longName, path) : []),
    headerBlock(letters[entry.type], entry),
  ])
}

/** An entry that hides one of a layer below: a character device with the numbers 0 and 0, as overlays have it. */
export function writeWhiteout(path: string): Buffer {
  const entry = { path, link: '', size: 0, mode: 0, modified: 0, owner: 0 }
  return Buffer.concat([
    ...(path.length > field.name[1] ? longBlocks(longName, path) : []),
    headerBlock(whiteout, entry),
  ])
}

/** Returns the header of a whiteout as that of an empty file; null for any other block. */
export function whiteoutAsFile(block: Buffer): Buffer | null {
  const isWhiteout =
    String.fromCharCode(block[typeAt] ?? 0) === whiteout &&
    numberIn(block, ...field.deviceMajor) === 0 &&
    numberIn(block, ...field.deviceMinor) === 0 &&
    numberIn(block, checksumAt, 8) === checksumOf(block)
  if (!isWhiteout) return null
  const file = Buffer.from(block)
  file.write(letters.file, typeAt, encoding)
  file.write(`${octal(checksumOf(file), 6)}\0 `, checksumAt, encoding)
  return file
}

/** Ends an archive. */
export const archiveEnd = Buffer.alloc(2 * blockBytes)

function longBlocks(letter: string, text: string): Buffer[] {
  const content = Buffer.from(`${text}\0`, encoding)
  const header = { path: '././@LongLink', link: '', size: content.length, mode: 0o644, modified: 0 }
  return [headerBlock(letter, header), content, Buffer.alloc(paddingOf(content.length))]
}

function headerBlock(letter: string, entry: Omit<TarEntry, 'type'>): Buffer {
  const { owner = ownerId } = entry
  const block = Buffer.alloc(blockBytes)
  block.write(entry.path.slice(0, field.name[1]), field.name[0], encoding)
  block.write(entry.link.slice(0, field.link[1]), field.link[0], encoding)
  writeNumber(block, field.mode, entry.mode)
  writeNumber(block, [108, 8], owner)
  writeNumber(block, [116, 8], ownerId)
  writeNumber(block, field.size, entry.size)
  writeNumber(block, field.time, entry.modified)
  block.write(letter, typeAt, encoding)
  block.write(magic, magicAt, encoding)
  if (letter === whiteout)
    for (const place of [field.deviceMajor, field.deviceMinor]) writeNumber(block, place, 0)
  if (owner === ownerId) block.write('developer', 265, encoding)
  block.write('developer', 297, encoding)
  block.write(`${octal(checksumOf(block), 6)}\0 `, checksumAt, encoding)
  return block
}

/** The field of the checksum counts as spaces. */
function checksumOf(block: Buffer): number {
  let sum = 8 * 0x20
  for (let index = 0; index < blockBytes; index += 1) {
    if (index < checksumAt || index >= checksumAt + 8) sum += block[index] ?? 0
  }
  return sum
}

function textIn(block: Buffer, [start, length]: readonly [number, number]): string {
  const text = block.toString(encoding, start, start + length)
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}

/** Octal digits, or for large values a binary number whose first bit is set. */
function numberIn(block: Buffer, start: number, length: number): number {
  if (((block[start] ?? 0) & 0x80) !== 0) {
    const value = block.readBigUInt64BE(start + length - 8)
    const isPlain =
      block[start] === 0x80 && block.subarray(start + 1, start + length - 8).every((b) => b === 0)
    if (!isPlain || length < 9 || value > BigInt(Number.MAX_SAFE_INTEGER))
      throw invalidArchive('A number in the archive is out of range.')
    return Number(value)
  }
  const digits = block
    .toString(encoding, start, start + length)
    .replace(/[\0 ]+$/, '')
    .trimStart()
  if (!/^[0-7]*$/.test(digits)) throw invalidArchive('A number in the archive is not valid.')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

function writeNumber(block: Buffer, [start, length]: readonly [number, number], value: number): void {
  const text = octal(value, length - 1)
  if (text.length < length) return void block.write(`${text}\0`, start, encoding)
  block[start] = 0x80
  block.writeBigUInt64BE(BigInt(value), start + length - 8)
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}

/** A name of an archive in a message: at most 200 characters in one line. */
export function shown(path: string): string {
  return Buffer.from(path, encoding)
    .toString('utf8')
    .slice(0, 200)
    .replaceAll(/[\p{Cc}"]/gu, '?')
}
