import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { archiveEnd, maxNameBytes, paddingOf, type TarEntry, writeHeader } from '../../kit/tar.ts'
import type { RecordId, StoredEntry, WorkspaceHistory } from '../../ports/workspace-history/port.ts'

/** The processor is shared with everything else. */
const compression = { level: 1 }

export type ArchiveRequest = {
  record: RecordId
  /** Path of the folder in the record. */
  folder: string
  /** Name of the folder in the archive, as bytes. */
  name: string
  modified: Date
  isLeftOut(entry: StoredEntry): boolean | Promise<boolean>
}

type Source = Pick<WorkspaceHistory, 'list' | 'read' | 'sizes'>

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
  const pending = [folder]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const entries = (await history.list(record, next)) ?? []
    const sizes = await history.sizes(entries)
    for (const [index, entry] of entries.entries()) {
      if (await request.isLeftOut(entry)) continue
      const { kind, path } = entry
      const inside = folder === '' ? path : path.slice(folder.length + 1)
      const size = sizes[index] ?? 0
      const common = { path: `${name}/${inside}`, mode: entry.mode & 0o777, modified }
      if (kind === 'folder') {
        pending.push(path)
        yield header({ ...common, path: `${common.path}/`, type: 'folder', link: '', size: 0 })
      } else if (kind === 'link') {
        const link = size < maxNameBytes ? await wholeText(history, record, path) : ''
        if (link !== '') yield header({ ...common, type: 'symlink', link, size: 0 })
      } else {
        yield header({ ...common, type: 'file', link: '', size })
        yield* (await history.read(record, path)) ?? []
        if (paddingOf(size) > 0) yield Buffer.alloc(paddingOf(size))
      }
    }
  }
  yield archiveEnd
}

const header = (entry: TarEntry) => writeHeader(entry)

async function wholeText(history: Source, record: RecordId, path: string): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of (await history.read(record, path)) ?? []) chunks.push(chunk)
  return Buffer.concat(chunks).toString('latin1')
}
