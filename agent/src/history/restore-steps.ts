import {
  chmodSync,
  chownSync,
  closeSync,
  fstatSync,
  lstatSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs'
import {
  maxNamedConflicts,
  type RestoreConflict,
  type RestoreConflictReason,
} from '@roost/contracts/link/history-restore'
import type { Clock } from '../kit/clock.ts'
import { createPauses } from '../kit/pauses.ts'
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
  deps: {
    home: Beneath
    stage: Beneath | null
    owner: Pick<ProcessUser, 'uid' | 'gid'>
    clock: Pick<Clock, 'elapsed'>
  },
  steps: readonly Step[],
  conflicts: Conflicts,
): Promise<void> {
  const { home, stage, owner } = deps
  const pause = createPauses(deps.clock)

  function apply(step: Step): void {
    const { path } = step
    switch (step.do) {
      case 'remove':
        unlinkSync(home.place(path))
        break
      case 'remove_folder':
        rmdirSync(home.place(path))
        home.forget()
        break
      case 'place':
        place(path, step.item, step.folder)
        break
      case 'open':
      case 'mode':
        withEntry(step, (opened) => chmodSync(opened, step.mode))
        break
      case 'owner':
        withEntry(step, (opened) =>
          step.uid === null ? chownSync(opened, owner.uid, owner.gid) : chownSync(opened, step.uid, -1),
        )
    }
  }

  function place(path: string, item: number, isFolder: boolean): void {
    if (!stage) return
    const from = stage.place(stagedItem(item))
    // Already moved.
    if (!lstatSync(from, { throwIfNoEntry: false })) return
    renameSync(from, home.place(path))
    if (isFolder) home.forget()
  }

  /** A file that somebody put there must not become the owner's, so only folders change their owner. */
  function withEntry(step: Step & Which, act: (opened: string) => void): void {
    const entry = home.entry(step.path)
    try {
      const found = fstatSync(entry, { bigint: true })
      const isKnown = found.isDirectory() || (found.isFile() && step.do !== 'owner')
      const isMeant = step.inode === null || step.inode === String(found.ino)
      if (isKnown && isMeant && found.dev === home.device) act(`/proc/self/fd/${entry}`)
    } finally {
      closeSync(entry)
    }
  }

  for (const step of steps) {
    await pause()
    try {
      apply(step)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? ''
      if (code === '' || passing.has(code)) throw error
      home.forget()
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
