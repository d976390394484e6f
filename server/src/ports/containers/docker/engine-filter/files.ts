import { pipeline, Readable } from 'node:stream'
import { pipeline as untilDone } from 'node:stream/promises'
import { extract, type Header, type Pack, pack } from 'tar-stream'
import { RefusedCall } from './calls.ts'

const folder = 'template'

/**
 * Returns an archive with the entries of the caller's, written anew: folders, files and links below `/template`. The
 * returned stream fails with `RefusedCall` at the first entry of another kind, or beyond `maxBytes`.
 */
export function templateArchive(given: Readable, maxBytes: number): Readable {
  const archive = pack()
  const entries = extract()
  let bytes = 0
  given.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBytes) entries.destroy(new RefusedCall(`The files are longer than ${maxBytes} bytes.`))
  })
  // Errors arrive at the loop below.
  pipeline(given, entries, () => {})
  const copy = async () => {
    let refused: RefusedCall | null = null
    for await (const entry of entries) {
      // The rest is read all the same: the caller would otherwise get a broken connection instead of the rule.
      const header: CheckedHeader | RefusedCall = refused ?? checked(entry.header)
      if (header instanceof RefusedCall) refused = header
      else if (header.type === 'file') {
        await untilDone(entry, archive.entry(header))
        continue
      } else archive.entry(header)
      entry.resume()
    }
    if (refused) throw refused
    archive.finalize()
  }
  copy().catch((error: Error) => archive.destroy(error))
  return Readable.from(withRule(archive))
}

async function* withRule(archive: Pack): AsyncGenerator<Buffer> {
  try {
    yield* archive as AsyncIterable<Buffer>
  } catch (error) {
    throw error instanceof RefusedCall ? error : new RefusedCall('The archive is damaged.')
  }
}

type CheckedHeader = Parameters<Pack['entry']>[0]

function checked({ name, type, linkname, mode = 0, mtime, size }: Header): CheckedHeader | RefusedCall {
  const plain = name.replace(/\/$/, '')
  const isInside = plain.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  if (!isInside || (plain !== folder && !plain.startsWith(`${folder}/`)))
    return new RefusedCall(`Files must be below /${folder}.`)
  const base = { name: plain, uid: 0, gid: 0, mtime: mtime ?? new Date(0) }
  // Links lead within the container, where its own programs could create the same ones.
  if (type === 'symlink') return { ...base, type, mode: 0o777, linkname: linkname ?? '' }
  if (type === 'directory') return { ...base, type, mode: mode & 0o755 }
  if (type === 'file') return { ...base, type, mode: mode & 0o755, size: size ?? 0 }
  return new RefusedCall(`Files of the type ${type} are not allowed.`)
}
