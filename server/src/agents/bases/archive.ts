import { isOwnersToWrite } from '@roost/contracts/link/credentials'
import { maxRestoredDepth } from '@roost/contracts/link/history'
import { archiveEnd, maxNameBytes, paddingOf, type TarEntry, writeHeader } from '../../kit/tar.ts'
import { archiveRoot } from '../../ports/containers/port.ts'
import type { RecordId, StoredEntry, Walked, WorkspaceHistory } from '../../ports/workspace-history/port.ts'

/** An engine cannot create this record exactly; the agent's own program can. */
export class NotLayered extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'NotLayered'
  }
}

/** User of entries whose owner is unknown, as in a restore. */
const strangerId = 1001
const setUserId = 0o4000
const setGroupId = 0o2000
/** The engine joins a name with the place of the volume. */
const maxPathBytes = maxNameBytes - 256
/** What the group of a folder needs to list it. In a volume, the developer belongs to the group of every entry. */
const listable = 0o050
/** Pieces of an archive are joined to about this size. */
const pieceBytes = 256 * 1024
/** What a new volume gets from the image. */
const imageFolders = {
  '.roost': 0o755,
  '.tmp': 0o755,
  '.ssh': 0o700,
  'shared-in': 0o755,
  'shared-out': 0o755,
}

type Source = Pick<WorkspaceHistory, 'walk'>

/** Throws `NotLayered`, and `UnknownRecord`. */
export async function requireArchivable(history: Source, record: RecordId): Promise<void> {
  for await (const walked of history.walk(record, { withContents: false })) {
    requireExact((walked as Walked).entry)
  }
}

/** Throws `NotLayered`. */
export function requireExact({ sparse, path, owner, kind, mode }: StoredEntry): void {
  if (sparse) throw new NotLayered('it has a sparse file')
  // The agent program deletes nothing deeper, so a credential would stay.
  if (path.length > maxPathBytes || path.split('/').length > maxRestoredDepth)
    throw new NotLayered('it has a path that is too long')
  if (!owner && kind === 'folder' && (mode & listable) !== listable)
    throw new NotLayered('somebody else has a folder that the program could not read')
  // Giving a file to another user takes its special bits.
  const special = setUserId | (mode & 0o010 ? setGroupId : 0)
  if (!owner && kind === 'file' && mode & special)
    throw new NotLayered('somebody else has a set-user-ID file')
  // After a restore, the program does not apply such files of others.
  if (!owner && isOwnersToWrite(path)) throw new NotLayered('another user wrote files that configure runs')
}

/** The whole record as a volume, with modes and owners, as a restore creates it. */
export async function* archiveOfRecord(
  history: Source,
  record: RecordId,
  modified: Date,
): AsyncGenerator<Buffer> {
  const seconds = Math.floor(modified.getTime() / 1000)
  let link: { entry: StoredEntry; chunks: Buffer[] } | null = null
  let padding = 0
  let joined: Buffer[] = []
  let length = 0
  const add = (bytes: Buffer) => {
    joined.push(bytes)
    length += bytes.length
  }
  const end = () => {
    if (link) add(headerOf(link.entry, seconds, { link: Buffer.concat(link.chunks).toString('latin1') }))
    if (padding > 0) add(Buffer.alloc(padding))
    link = null
    padding = 0
  }

  for (const [path, mode] of Object.entries(imageFolders))
    add(writeHeader({ ...named(path, 'folder'), mode, modified: seconds }))
  for await (const walked of history.walk(record, { withContents: true })) {
    if (Buffer.isBuffer(walked)) {
      if (link) link.chunks.push(walked)
      else add(walked)
    } else {
      end()
      const { entry, size } = walked
      if (entry.kind === 'link') link = { entry, chunks: [] }
      else add(headerOf(entry, seconds, { size }))
      if (entry.kind === 'file') padding = paddingOf(size)
    }
    if (length < pieceBytes) continue
    yield Buffer.concat(joined, length)
    joined = []
    length = 0
  }
  end()
  add(archiveEnd)
  yield Buffer.concat(joined, length)
}

function named(path: string, type: TarEntry['type']): TarEntry {
  const name = `${archiveRoot}/${path}`
  return { path: type === 'folder' ? `${name}/` : name, type, link: '', size: 0, mode: 0, modified: 0 }
}

export function headerOf(
  { path, kind, mode, owner }: StoredEntry,
  modified: number,
  more: { link?: string; size?: number },
): Buffer {
  const type = kind === 'link' ? 'symlink' : kind
  const entry = { ...named(path, type), ...more, mode, modified }
  return writeHeader(owner ? entry : { ...entry, owner: strangerId })
}
