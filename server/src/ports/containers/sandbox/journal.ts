import { randomBytes } from 'node:crypto'
import { appendFileSync, linkSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContainerEvent } from '../port.ts'

export type JournalEntry = Exclude<ContainerEvent, { type: 'resync' }>

const fileName = 'events'
/** Above this size the journal is replaced; its readers start again with a resync. */
const maxBytes = 1024 * 1024
/** The first line is a random word that identifies the journal, because inode numbers are reused. */
const headBytes = 33

/** Appends one line. Processes share the journal: each line is one write to a file opened for appending. */
export function appendToJournal(folder: string, entry: JournalEntry): void {
  const path = join(folder, fileName)
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined || size > maxBytes) createJournal(folder, size !== undefined)
  appendFileSync(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 })
}

/** A reader's position: which journal, and the offset. */
export type JournalPlace = { head: string; offset: number; rest: string }

/** Returns the current end of the journal; creates the journal if missing. */
export async function journalEnd(folder: string): Promise<JournalPlace> {
  const path = join(folder, fileName)
  if (!statSync(path, { throwIfNoEntry: false })) createJournal(folder, false)
  const file = await open(path, 'r')
  try {
    return { head: await readHead(file), offset: (await file.stat()).size, rest: '' }
  } finally {
    await file.close()
  }
}

/** Returns entries added since `place` and advances it; null when the journal was replaced. */
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
    // Names are ASCII (`safeName`), so a read never splits a character.
    const lines = (place.rest + buffer.toString('utf8', 0, bytesRead)).split('\n')
    place.rest = lines.pop() ?? ''
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JournalEntry)
  } finally {
    await file.close()
  }
}

/**
 * Creates an empty journal: replaces a full one, or links a missing one so that only one creator succeeds.
 */
function createJournal(folder: string, isFull: boolean): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, fileName)
  const journalId = randomBytes((headBytes - 1) / 2).toString('hex')
  const temporary = `${path}.${journalId}`
  writeFileSync(temporary, `${journalId}\n`, { mode: 0o600 })
  if (isFull) {
    renameSync(temporary, path)
    return
  }
  try {
    linkSync(temporary, path)
  } catch {
    // Another process created the journal first.
  } finally {
    rmSync(temporary)
  }
}

async function readHead(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
  return buffer.toString('latin1', 0, bytesRead)
}
