import { createHash } from 'node:crypto'
import {
  archiveEnd,
  blockBytes,
  encoding,
  invalidArchive,
  isZero,
  paddingOf,
  readHeader,
  type TarEntry,
  writeHeader,
} from '../../kit/tar.ts'

export type Bytes = AsyncIterable<Uint8Array>

/** Reads an archive entry by entry. All of an entry's content must be read before the next entry. */
export type TarReader = {
  /** Null at the end mark of the archive. Throws `invalid_archive`, also if the archive ends without the mark. */
  next(): Promise<TarEntry | null>
  /** The content of the current entry in pieces. */
  content(): AsyncGenerator<Buffer>
  /** The whole content, if it has at most `max` bytes. Throws `invalid_archive`. */
  whole(entry: TarEntry, max: number): Promise<Buffer>
  /** SHA-256 of everything before the current entry. */
  digestBefore(): string
  /** Reads to the end of the source, which then has proven that it is complete. Throws on data after the end mark. */
  finish(): Promise<void>
}

export function createTarReader(source: Bytes): TarReader {
  const pieces = source[Symbol.asyncIterator]()
  const hash = createHash('sha256')
  let buffered: Buffer = Buffer.alloc(0)
  let left = 0
  let padding = 0
  let digest = ''

  /** At least one byte and at most `max`; null at the end of the source. */
  async function some(max: number): Promise<Buffer | null> {
    while (buffered.length === 0) {
      const { value, done } = await pieces.next()
      if (done) return null
      buffered = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    }
    const piece = buffered.subarray(0, max)
    buffered = buffered.subarray(piece.length)
    return piece
  }

  async function exactly(length: number): Promise<Buffer> {
    const found: Buffer[] = []
    for (let missing = length; missing > 0; ) {
      const piece = await some(missing)
      if (!piece) throw invalidArchive('The archive is incomplete: it ends too early.')
      found.push(piece)
      missing -= piece.length
    }
    const bytes = found.length === 1 && found[0] ? found[0] : Buffer.concat(found, length)
    hash.update(bytes)
    return bytes
  }

  async function longText(size: number): Promise<string> {
    const bytes = await exactly(size + paddingOf(size))
    const text = bytes.toString(encoding, 0, size)
    const end = text.indexOf('\0')
    return end < 0 ? text : text.slice(0, end)
  }

  async function* content(): AsyncGenerator<Buffer> {
    while (left > 0) {
      const piece = await some(left)
      if (!piece) throw invalidArchive('The archive is incomplete: it ends too early.')
      hash.update(piece)
      left -= piece.length
      yield piece
    }
    await exactly(padding)
    padding = 0
  }

  return {
    content,
    digestBefore: () => digest,

    async next() {
      if (left + padding > 0) throw new Error('The content of the entry before was not read.')
      digest = hash.copy().digest('hex')
      const long: { path?: string; link?: string } = {}
      for (;;) {
        const block = await exactly(blockBytes)
        if (isZero(block)) return null
        const header = readHeader(block)
        if (header.kind === 'entry') {
          const entry = { ...header.entry, ...long }
          left = entry.size
          padding = paddingOf(entry.size)
          return entry
        }
        const key = header.kind === 'long name' ? 'path' : 'link'
        if (long[key] !== undefined) throw invalidArchive('An entry of the archive has two long names.')
        long[key] = await longText(header.size)
      }
    },

    async whole(entry, max) {
      if (entry.size > max)
        throw invalidArchive(`"${entry.path}" of the archive is larger than ${max} bytes.`)
      const found: Buffer[] = []
      for await (const piece of content()) found.push(piece)
      return Buffer.concat(found)
    },

    async finish() {
      for (let piece = await some(blockBytes); piece; piece = await some(blockBytes)) {
        if (!isZero(piece)) throw invalidArchive('The archive has data after its end.')
      }
    },
  }
}

/** Builds an archive in order; `digest` is that of everything returned so far. */
export function createTarWriter() {
  const hash = createHash('sha256')
  const add = (bytes: Buffer): Buffer => {
    hash.update(bytes)
    return bytes
  }
  return {
    header: (entry: TarEntry) => add(writeHeader(entry)),
    content: add,
    /** Follows the content of an entry; may be empty. */
    padding: ({ size }: Pick<TarEntry, 'size'>) => add(Buffer.alloc(paddingOf(size))),
    member(path: string, bytes: Buffer, modified: number): Buffer {
      const entry = { path, type: 'file', link: '', size: bytes.length, mode: 0o600, modified } as const
      return add(Buffer.concat([writeHeader(entry), bytes, Buffer.alloc(paddingOf(bytes.length))]))
    },
    end: () => add(archiveEnd),
    digest: () => hash.copy().digest('hex'),
  }
}
