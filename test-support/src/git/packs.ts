/**
 * Hand-made packs with objects that git would not create: small in the pack, large when unpacked. Names of
 * blobs need not match their bytes, because a host sends its pack unchanged.
 */
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { constants, crc32, deflateRawSync, deflateSync } from 'node:zlib'

export type Pack = {
  /** Adds an object under its real name and returns that name. */
  add(kind: 'commit' | 'tree' | 'blob', bytes: Buffer): string
  /** Adds a blob of `megabytes` MB of one byte; it takes a thousandth of that in the pack. */
  addPlain(megabytes: number, byte?: number): string
  /**
   * Adds a blob whose 64 KiB chunks all copy the beginning of another; it takes some hundred bytes in the
   * pack.
   */
  addCopies(base: { sha: string; bytes: number }, megabytes: number): string
  /** Adds a small blob that declares a size of `bytes`. */
  addClaim(bytes: bigint): string
  /** Writes the pack into a bare repository and points `main` to a commit of the tree. */
  write(bareFolder: string, tree: string): Promise<void>
}

const kinds = { commit: 1, tree: 2, blob: 3, reference: 7 } as const
const megabyte = 1024 * 1024
const piece = 64 * 1024

export function createPack(): Pack {
  const entries = new Map<string, Buffer>()
  const store = (sha: string, entry: Buffer) => {
    entries.set(sha, entry)
    return sha
  }
  const invented = () => createHash('sha1').update(`invented ${entries.size}`).digest('hex')

  function add(kind: 'commit' | 'tree' | 'blob', bytes: Buffer): string {
    const sha = createHash('sha1').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex')
    return store(sha, Buffer.concat([entryHead(kinds[kind], BigInt(bytes.length)), deflateSync(bytes)]))
  }

  return {
    add,
    addPlain(megabytes, byte = 0) {
      const head = entryHead(kinds.blob, BigInt(megabytes) * BigInt(megabyte))
      return store(invented(), Buffer.concat([head, deflatedPlain(megabytes, byte)]))
    },
    addCopies(base, megabytes) {
      const copies = Buffer.alloc((megabytes * megabyte) / piece, 0x80)
      const delta = Buffer.concat([varint(base.bytes), varint(megabytes * megabyte), copies])
      const head = entryHead(kinds.reference, BigInt(delta.length))
      return store(invented(), Buffer.concat([head, Buffer.from(base.sha, 'hex'), deflateSync(delta)]))
    },
    addClaim(bytes) {
      return store(
        invented(),
        Buffer.concat([entryHead(kinds.blob, bytes), deflateSync(Buffer.from('small'))]),
      )
    },
    async write(bareFolder, tree) {
      const author = 'Test <test@example.org> 1767225600 +0000'
      const commit = add(
        'commit',
        Buffer.from(`tree ${tree}\nauthor ${author}\ncommitter ${author}\n\nplanted\n`),
      )
      const { pack, index, name } = packed(entries)
      const folder = join(bareFolder, 'objects', 'pack')
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, `pack-${name}.pack`), pack)
      await writeFile(join(folder, `pack-${name}.idx`), index)
      await writeFile(join(bareFolder, 'refs', 'heads', 'main'), `${commit}\n`)
    },
  }
}

/** Encodes a tree with entries in git's order. */
export function treeOf(items: readonly { name: string; sha: string; isFolder?: boolean }[]): Buffer {
  return Buffer.concat(
    items.flatMap(({ name, sha, isFolder }) => [
      Buffer.from(`${isFolder ? '40000' : '100644'} ${name}\0`, 'latin1'),
      Buffer.from(sha, 'hex'),
    ]),
  )
}

/** One megabyte, deflated once and repeated as independent blocks. */
function deflatedPlain(megabytes: number, byte: number): Buffer {
  const one = deflateRawSync(Buffer.alloc(megabyte, byte), { finishFlush: constants.Z_FULL_FLUSH, level: 9 })
  const last = Buffer.from([3, 0])
  return Buffer.concat([
    Buffer.from([0x78, 0x9c]),
    ...Array.from({ length: megabytes }, () => one),
    last,
    adlerOf(megabytes * megabyte, byte),
  ])
}

/** The Adler-32 checksum of `size` equal bytes. */
function adlerOf(size: number, byte: number): Buffer {
  const [count, prime] = [BigInt(size), 65521n]
  const low = (1n + count * BigInt(byte)) % prime
  const high = (count + (BigInt(byte) * count * (count + 1n)) / 2n) % prime
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(Number(high * 65536n + low))
  return sum
}

function entryHead(kind: number, size: bigint): Buffer {
  const bytes: number[] = []
  let [byte, rest] = [(kind << 4) | Number(size & 15n), size >> 4n]
  while (rest > 0n) {
    bytes.push(byte | 0x80)
    ;[byte, rest] = [Number(rest & 127n), rest >> 7n]
  }
  return Buffer.from([...bytes, byte])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = BigInt(value)
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 0x80)
    rest >>= 7n
  }
  return Buffer.from([...bytes, Number(rest)])
}

/** Encodes pack and index as in gitformat-pack(5), version 2. */
function packed(entries: ReadonlyMap<string, Buffer>) {
  const start = Buffer.concat([Buffer.from('PACK'), numbers([2, entries.size])])
  let offset = start.length
  const placed = [...entries].map(([sha, entry]) => {
    const at = offset
    offset += entry.length
    return { sha, at, sum: crc32(entry) }
  })
  const body = Buffer.concat([start, ...entries.values()])
  const name = sha1(body)
  const sorted = placed.toSorted((a, b) => (a.sha < b.sha ? -1 : 1))
  const fanout = Array.from(
    { length: 256 },
    (_, byte) => sorted.filter(({ sha }) => Number.parseInt(sha.slice(0, 2), 16) <= byte).length,
  )
  const index = Buffer.concat([
    Buffer.from([0xff, 0x74, 0x4f, 0x63]),
    numbers([2, ...fanout]),
    ...sorted.map(({ sha }) => Buffer.from(sha, 'hex')),
    numbers(sorted.map(({ sum }) => sum)),
    numbers(sorted.map(({ at }) => at)),
    name,
  ])
  return {
    pack: Buffer.concat([body, name]),
    index: Buffer.concat([index, sha1(index)]),
    name: name.toString('hex'),
  }
}

const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest()

function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4)
  return bytes
}
