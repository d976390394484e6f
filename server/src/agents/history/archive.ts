import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { archiveEnd, maxNameBytes, paddingOf, type TarEntry, writeHeader } from '../../kit/tar.ts'
import type { RecordId, StoredEntry, WorkspaceHistory } from '../../ports/workspace-history/port.ts'

/** The processor is shared with everything else. */
const compression = { level: 1 }
/** Number of entries that one process of git reads. */
const maxBatch = 1000

export type ArchiveRequest = {
  record: RecordId
  /** Path of the folder in the record. */
  folder: string
  /** Name of the folder in the archive, as bytes. */
  name: string
  modified: Date
  isLeftOut(entry: StoredEntry): boolean | Promise<boolean>
}

type Source = Pick<WorkspaceHistory, 'list' | 'readAll' | 'sizes'>

/** Packs a folder of a record as tar.gz, one entry at a time. */
export function archiveOf(history: Source, request: ArchiveRequest): Readable {
  const gzip = createGzip(compression)
  // A broken source or a client that left ends both; the reader of `gzip` reports it.
  pipeline(Readable.from(tarOf(history, request), { objectMode: false }), gzip, () => {})
  return gzip
}

async function* tarOf(history: Source, request: ArchiveRequest): AsyncGenerator<Buffer> {
  const { record, folder, name } = request
  const modified = Math.floor(request.modified.getTime() / 1000)
  yield header({ path: `${name}/`, type: 'folder', link: '', size: 0, mode: 0o755, modified })
  for await (const batch of batchesOf(history, request)) {
    for await (const { item, pieces } of history.readAll(record, batch)) {
      const { kind, path, mode, size } = item
      const inside = folder === '' ? path : path.slice(folder.length + 1)
      const common = { path: `${name}/${inside}`, mode: mode & 0o777, modified }
      if (kind === 'folder')
        yield header({ ...common, path: `${common.path}/`, type: 'folder', link: '', size: 0 })
      else if (kind === 'link') {
        const link = pieces && size < maxNameBytes ? await wholeText(pieces) : ''
        if (link !== '') yield header({ ...common, type: 'symlink', link, size: 0 })
      } else {
        yield header({ ...common, type: 'file', link: '', size })
        yield* pieces ?? []
        if (paddingOf(size) > 0) yield Buffer.alloc(paddingOf(size))
      }
    }
  }
  yield archiveEnd
}

type Sized = StoredEntry & { size: number }

/** Folders come before their content. */
async function* batchesOf(history: Source, request: ArchiveRequest): AsyncGenerator<Sized[]> {
  const { record, folder, isLeftOut } = request
  const pending = [folder]
  let batch: Sized[] = []
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const entries = (await history.list(record, next)) ?? []
    for (let at = 0; at < entries.length; at += maxBatch) {
      const part = entries.slice(at, at + maxBatch)
      const sizes = await history.sizes(part)
      for (const [index, entry] of part.entries()) {
        if (await isLeftOut(entry)) continue
        if (entry.kind === 'folder') pending.push(entry.path)
        batch.push({ ...entry, size: sizes[index] ?? 0 })
        if (batch.length < maxBatch) continue
        yield batch
        batch = []
      }
    }
  }
  if (batch.length > 0) yield batch
}

const header = (entry: TarEntry) => writeHeader(entry)

async function wholeText(pieces: AsyncIterable<Buffer>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(pieces)).toString('latin1')
}
