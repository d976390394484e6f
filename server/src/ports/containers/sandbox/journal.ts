import { randomBytes } from 'node:crypto'
import { appendFileSync, linkSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContainerEvent } from '../port.ts'

export type JournalEntry = Exclude<ContainerEvent, { type: 'resync' }>

const fileName = 'events'
/** Past this size the journal begins anew; who was reading it starts over with a resync. */
const maxBytes = 1024 * 1024
/** The first line is a random word: the number of a file is used again at once when the file is replaced. */
const headBytes = 33

/** Adds one line. Several processes write to one journal: a line is one write to a file opened for appending. */
export function appendToJournal(folder: string, entry: JournalEntry): void {
  const path = join(folder, fileName)
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined || size > maxBytes) begin(folder, size !== undefined)
  appendFileSync(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 })
}

/** Where a reader is: in which journal, and how far. */
export type JournalPlace = { head: string; offset: number; rest: string }

/** The end of the journal as it stands; makes the journal when there is none. */
export async function journalEnd(folder: string): Promise<JournalPlace> {
  const path = join(folder, fileName)
  if (!statSync(path, { throwIfNoEntry: false })) begin(folder, false)
  const file = await open(path, 'r')
  try {
    return { head: await readHead(file), offset: (await file.stat()).size, rest: '' }
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
    const { size } = await file.stat()
    if (size < place.offset || (await readHead(file)) !== place.head) return null
    if (size === place.offset) return []
    const buffer = Buffer.alloc(size - place.offset)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, place.offset)
    place.offset += bytesRead
    // Names are ASCII (`safeName`), so no character is cut by where a read ends.
    const lines = (place.rest + buffer.toString('utf8', 0, bytesRead)).split('\n')
    place.rest = lines.pop() ?? ''
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JournalEntry)
  } finally {
    await file.close()
  }
}

/** Puts an empty journal in place: over the full one, or only where none is, so that two makers make one. */
function begin(folder: string, isFull: boolean): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, fileName)
  const word = randomBytes((headBytes - 1) / 2).toString('hex')
  const fresh = `${path}.${word}`
  writeFileSync(fresh, `${word}\n`, { mode: 0o600 })
  if (isFull) {
    renameSync(fresh, path)
    return
  }
  try {
    linkSync(fresh, path)
  } catch {
    // Another maker was quicker, and its journal is as good.
  } finally {
    rmSync(fresh)
  }
}

async function readHead(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
  return buffer.toString('latin1', 0, bytesRead)
}
