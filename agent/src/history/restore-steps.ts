import { chmod, chown, lstat, rename, rmdir, unlink } from 'node:fs/promises'
import {
  maxNamedConflicts,
  type RestoreConflict,
  type RestoreConflictReason,
} from '@roost/contracts/link/history-restore'
import type { ProcessUser } from '../processes/identity.ts'
import type { Beneath } from './beneath.ts'
import type { Step, Which } from './restore-plan.ts'
import { stagedItem } from './restore-stage.ts'

/** The first ones, and the number of all. */
export type Conflicts = { named: RestoreConflict[]; count: number }

export function addConflict(conflicts: Conflicts, conflict: RestoreConflict): void {
  conflicts.count += 1
  if (conflicts.named.length < maxNamedConflicts) conflicts.named.push(conflict)
}

/** After these, the same step may succeed later. */
const passing = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM', 'EINTR'])
const reasons: Record<string, RestoreConflictReason> = {
  EACCES: 'denied',
  EPERM: 'denied',
  EXDEV: 'elsewhere',
  EBUSY: 'elsewhere',
}

/**
 * Does every step in its order, also those that were done before a kill. What is in the way of a step becomes a
 * conflict. Throws if the disk is full or faulty; then all steps can be repeated.
 */
export async function applySteps(
  deps: { home: Beneath; stage: Beneath | null; owner: Pick<ProcessUser, 'uid' | 'gid'> },
  steps: readonly Step[],
  conflicts: Conflicts,
): Promise<void> {
  const { home, stage, owner } = deps

  async function apply(step: Step): Promise<void> {
    const { path } = step
    switch (step.do) {
      case 'remove':
        return unlink(await home.place(path))
      case 'remove_folder':
        await rmdir(await home.place(path))
        return home.forget()
      case 'place':
        return place(path, step.item, step.folder)
      case 'open':
      case 'mode':
        return withEntry(step, (opened) => chmod(opened, step.mode))
      case 'owner':
        return withEntry(step, (opened) =>
          step.uid === null ? chown(opened, owner.uid, owner.gid) : chown(opened, step.uid, -1),
        )
    }
  }

  async function place(path: string, item: number, isFolder: boolean): Promise<void> {
    if (!stage) return
    const from = await stage.place(stagedItem(item))
    // Already moved.
    if (!(await lstat(from).catch(missing))) return
    await rename(from, await home.place(path))
    if (isFolder) await home.forget()
  }

  /** A file that somebody put there must not become the owner's, so only folders change their owner. */
  async function withEntry(step: Step & Which, act: (opened: string) => Promise<void>): Promise<void> {
    await using entry = await home.entry(step.path)
    const found = await entry.stat({ bigint: true })
    const isKnown = found.isDirectory() || (found.isFile() && step.do !== 'owner')
    const isMeant = step.inode === null || step.inode === String(found.ino)
    if (isKnown && isMeant && found.dev === home.device) await act(`/proc/self/fd/${entry.fd}`)
  }

  for (const step of steps) {
    try {
      await apply(step)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? ''
      if (code === '' || passing.has(code)) throw error
      await home.forget()
      if (!isExpected(step, code) && !isNamed(conflicts, step))
        addConflict(conflicts, { path: step.path, reason: reasons[code] ?? 'occupied' })
    }
  }
}

/** Also what a step finds after it was done before. */
function isExpected(step: Step, code: string): boolean {
  if (step.do === 'place') return false
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return true
  return step.do === 'remove' && code === 'EISDIR'
}

/** A folder stays because of what stays in it. */
function isNamed({ named }: Conflicts, { do: act, path }: Step): boolean {
  return act === 'remove_folder' && named.some((each) => each.path.startsWith(`${path}/`))
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
