import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContainerEvent } from '../port.ts'

export type JournalEntry = Exclude<ContainerEvent, { type: 'resync' }>

const fileName = 'events'
/** Past this size the journal begins anew; who was reading it starts over with a resync. */
const maxBytes = 1024 * 1024

/** Adds one line. Several processes write to one journal: a line is one write to a file opened for appending. */
export function appendToJournal(folder: string, entry: JournalEntry): void {
  const path = join(folder, fileName)
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxBytes) {
    // Of two writers who see it full at once the second moves a short new file over the old one: readers
    // notice either way, and what they miss is what a resync is for.
    renameSync(path, `${path}.1`)
  }
  appendFileSync(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 })
}

/** Where a reader is: in which file, and how far. */
export type JournalPlace = { inode: number; offset: number; rest: string }

/** The end of the journal as it stands; makes the journal when there is none. */
export async function journalEnd(folder: string): Promise<JournalPlace> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  appendFileSync(join(folder, fileName), '', { mode: 0o600 })
  const file = await open(join(folder, fileName), 'r')
  try {
    const { ino, size } = await file.stat()
    return { inode: ino, offset: size, rest: '' }
  } finally {
    await file.close()
  }
}

/** What was added since `place`, which moves on; null when the journal began anew since. */
export async function readJournal(folder: string, place: JournalPlace): Promise<JournalEntry[] | null> {
  let file: FileHandle
  try {
    file = await open(join(folder, fileName), 'r')
  } catch {
    return null
  }
  try {
    const { ino, size } = await file.stat()
    if (ino !== place.inode || size < place.offset) return null
    if (size === place.offset) return []
    const buffer = Buffer.alloc(size - place.offset)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, place.offset)
    place.offset += bytesRead
    // A name is ASCII (`safeName`), so no character is cut by where a read ends.
    const lines = (place.rest + buffer.toString('utf8', 0, bytesRead)).split('\n')
    place.rest = lines.pop() ?? ''
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JournalEntry)
  } finally {
    await file.close()
  }
}
