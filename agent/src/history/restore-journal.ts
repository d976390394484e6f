import { readFile } from 'node:fs/promises'
import type { RestoreConflict } from '@roost/contracts/link/history-restore'
import { replaceFile } from './durable.ts'
import type { Step } from './restore-plan.ts'

/**
 * The state of the last restore. `staging`: the workspace is as it was. `applying`: it is completed, whatever happens.
 * The file changes from one to the other in one moment.
 */
export type Journal = { id: string; stage: string | null } & (
  | { phase: 'staging' }
  | { phase: 'discarded' }
  | ({ phase: 'applying'; inode: string | null; steps: Step[] } & Counts & Found)
  | ({ phase: 'restored' } & Counts & Found)
)

export type Counts = { added: number; changed: number; attributes: number; deleted: number }
type Found = { conflicts: RestoreConflict[]; conflictCount: number }

/** Returns null if there is none. Throws for a damaged one: only this program writes it. */
export async function readJournal(file: string): Promise<Journal | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Journal
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

export function writeJournal(file: string, journal: Journal): Promise<void> {
  return replaceFile(file, [JSON.stringify(journal)])
}
