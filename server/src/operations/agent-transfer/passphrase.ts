import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { Decrypter, Encrypter, Stanza } from 'age-encryption'
import { Fault } from '../../kit/fault.ts'
import { invalidArchive } from '../../kit/tar.ts'
import type { Bytes } from './tar-stream.ts'

/**
 * Archives as age files. The key is derived by Node's scrypt in its thread pool: that of the library would block every
 * other request, and a hostile file could ask for gigabytes of memory.
 */

const minLength = 12
const maxLength = 1000
/** As a power of two. 64 MiB of memory; the program `age` uses 18. */
const workFactor = 16
const maxWorkFactor = 18
const maxHeaderBytes = 4096
const intro = 'age-encryption.org/v1\n'
const label = 'age-encryption.org/v1/scrypt'

/** The passphrase of the header; null without one. Throws `validation_error`. */
export function passphraseOf(header: string | undefined): string | null {
  if (header === undefined) return null
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(header)
  const text = isBase64 ? Buffer.from(header, 'base64').toString('utf8') : ''
  if (text.length >= minLength && text.length <= maxLength) return text
  const msg = `must be base64 of a text of ${minLength} to ${maxLength} characters`
  const issue = { loc: ['header', 'X-Archive-Passphrase'], msg, type: 'value_error' }
  throw new Fault('validation_error', undefined, { issues: [issue] })
}

export async function encrypted(bytes: Bytes, passphrase: string): Promise<Readable> {
  const encrypter = new Encrypter()
  encrypter.addRecipient({
    async wrapFileKey(fileKey) {
      const salt = randomBytes(16)
      const cipher = createCipheriv(
        'chacha20-poly1305',
        await derive(passphrase, salt, workFactor),
        nonce,
        tag,
      )
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()])
      return [new Stanza(['scrypt', unpadded(salt), String(workFactor)], body)]
    },
  })
  const plain = Readable.toWeb(Readable.from(bytes, { objectMode: false }))
  return nodeStream(await encrypter.encrypt(plain as ReadableStream<Uint8Array>))
}

/**
 * Returns the archive itself, decrypted if it is an age file. Reading to its end proves that nothing is missing. Throws
 * `archive_passphrase_wrong`, `invalid_archive`.
 */
export async function decrypted(source: Bytes, passphrase: string | null): Promise<Bytes> {
  const { head, rest } = await headOf(source)
  const all = joined(head, rest)
  if (!head.toString('latin1').startsWith(intro)) return all
  if (passphrase === null)
    throw new Fault('archive_passphrase_wrong', 'The archive is encrypted: send its passphrase.')
  if (!head.includes('\n--- ')) throw invalidArchive('The header of the encrypted archive is too long.')
  const decrypter = new Decrypter()
  decrypter.addIdentity({ unwrapFileKey: (stanzas: Stanza[]) => unwrap(stanzas, passphrase) })
  const input = Readable.toWeb(Readable.from(all, { objectMode: false }))
  try {
    return plainPieces(nodeStream(await decrypter.decrypt(input as ReadableStream<Uint8Array>)))
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw invalidArchive('The encrypted archive is damaged.', cause)
  }
}

/** Reads until the header of an age file must be complete. */
async function headOf(source: Bytes): Promise<{ head: Buffer; rest: AsyncIterator<Uint8Array> }> {
  const rest = source[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < maxHeaderBytes && !head.includes('\n--- ')) {
    const { value, done } = await rest.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  return { head, rest }
}

async function* joined(head: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** The library's own errors mean that a piece is forged, or that the last one is missing. */
async function* plainPieces(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of stream) yield piece
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw invalidArchive('The encrypted archive is damaged or incomplete.', cause)
  }
}

async function unwrap(stanzas: Stanza[], passphrase: string): Promise<Uint8Array> {
  const [{ args = [], body = new Uint8Array() } = {}] = stanzas
  const [kind, salt = '', factor = ''] = args
  const isPlain = stanzas.length === 1 && kind === 'scrypt' && args.length === 3 && body.length === 32
  if (!isPlain || !/^[1-9]\d?$/.test(factor))
    throw invalidArchive('The archive is not encrypted with a passphrase.')
  if (Number(factor) > maxWorkFactor)
    throw invalidArchive(`The work factor of the encrypted archive is above ${maxWorkFactor}.`)
  const key = await derive(passphrase, Buffer.from(salt, 'base64'), Number(factor))
  const cipher = createDecipheriv('chacha20-poly1305', key, nonce, tag)
  cipher.setAuthTag(body.subarray(16))
  try {
    return Buffer.concat([cipher.update(body.subarray(0, 16)), cipher.final()])
  } catch (cause) {
    throw new Fault('archive_passphrase_wrong', undefined, {}, { cause })
  }
}

const nonce = Buffer.alloc(12)
const tag = { authTagLength: 16 }
let deriving: Promise<unknown> = Promise.resolve()

/** One at a time, because each needs up to 256 MiB. */
function derive(passphrase: string, salt: Buffer, factor: number): Promise<Buffer> {
  const next = deriving.then(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        const options = { N: 2 ** factor, r: 8, p: 1, maxmem: 2 ** (factor + 11) }
        const full = Buffer.concat([Buffer.from(label), salt])
        scrypt(passphrase, full, 32, options, (error, key) => (error ? reject(error) : resolve(key)))
      }),
  )
  deriving = next.catch(() => {})
  return next
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

function nodeStream(stream: ReadableStream<Uint8Array>): Readable {
  return Readable.fromWeb(stream as WebStream<Uint8Array>)
}
