import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A test file that may pass only in its second run for now; `since` is a date (YYYY-MM-DD). */
export type UnstableEntry = { file: string; since: string; reason: string }

export const unstableListPath = 'checks/unstable-tests.json'
/** An entry older than this fails the run: the list is for repairs in progress. */
const maxAgeDays = 14
const dayMs = 86_400_000

export async function readUnstableList(root: string): Promise<unknown> {
  return JSON.parse(await readFile(join(root, unstableListPath), 'utf8'))
}

/** Entries that are malformed or too old, as sentences. */
export function listProblems(list: unknown, now: Date): string[] {
  if (!Array.isArray(list)) return [`${unstableListPath} must hold an array`]
  return list.flatMap((entry: unknown, index) => {
    if (!isEntry(entry)) {
      return [`${unstableListPath}[${index}] needs file, since (YYYY-MM-DD) and reason`]
    }
    const ageDays = Math.floor((now.getTime() - Date.parse(entry.since)) / dayMs)
    if (ageDays < 0) return [`${unstableListPath}: ${entry.file}: since lies in the future`]
    if (ageDays <= maxAgeDays) return []
    return [
      `${unstableListPath}: ${entry.file} is listed for ${ageDays} days, at most ${maxAgeDays} are allowed`,
    ]
  })
}

/** Files that passed only in the second run and are not on the list. */
export function unlisted(unstable: readonly string[], list: unknown): string[] {
  const listed = new Set(Array.isArray(list) ? list.filter(isEntry).map(({ file }) => file) : [])
  return unstable.filter((file) => !listed.has(file))
}

function isEntry(entry: unknown): entry is UnstableEntry {
  if (typeof entry !== 'object' || entry === null) return false
  const { file, since, reason } = entry as Partial<Record<keyof UnstableEntry, unknown>>
  const isText = (value: unknown) => typeof value === 'string' && value.trim() !== ''
  return isText(file) && isText(reason) && typeof since === 'string' && /^\d{4}-\d\d-\d\d$/.test(since)
}
