import { spawn } from 'node:child_process'
import type { HistoryRules } from '@roost/contracts/link/history'
import {
  maxNamedConflicts,
  type RestoreChange,
  type RestoreChangesAnswer,
  type RestoreLookAnswer,
  type RestoreNeedsAnswer,
  type RestoreOpenAnswer,
  type RestoreState,
  type RestoreTarget,
  restorePageCharacters,
  restorePageEntries,
} from '@roost/contracts/link/history-restore'
import type { Clock } from '../kit/clock.ts'
import { faultText, type Log } from '../kit/log.ts'
import { LinkFault } from '../link/link.ts'
import { type Identities, readerId } from '../processes/identity.ts'
import { type Beneath, openBeneath } from './beneath.ts'
import { readIndex } from './index-file.ts'
import { foldersOfInode, type Listing, listWorkspace } from './listing.ts'
import { type Counts, type Journal, readJournal, writeJournal } from './restore-journal.ts'
import { changedPaths, type Plan, planRestore, type Step } from './restore-plan.ts'
import { createStage, newStagePath, openStage, removeStage, type Stage } from './restore-stage.ts'
import { applySteps, type Conflicts } from './restore-steps.ts'
import { createTarget, type Target } from './restore-target.ts'

/** Brings the workspace back to a record, one restore at a time. */
export type Restores = {
  open(id: string, paths: readonly string[], rules: HistoryRules): Promise<RestoreOpenAnswer>
  target(id: string, entries: readonly RestoreTarget[], leftOut: readonly string[]): Promise<void>
  compare(id: string): Promise<void>
  look(id: string): Promise<RestoreLookAnswer>
  changes(id: string, offset: number): Promise<RestoreChangesAnswer>
  needs(id: string, offset: number): Promise<RestoreNeedsAnswer>
  write(id: string, pieces: readonly RestorePiece[]): Promise<void>
  apply(id: string, overwrite: boolean): Promise<void>
  close(id: string): Promise<void>
  /** Completes what a kill interrupted, or removes what it left. Called before anything else uses the workspace. */
  resume(): Promise<void>
}

export type RestorePiece = { content: string; offset: number; bytes: Buffer; last: boolean }

export type RestoresDeps = {
  home: string
  /** File of this program, for the state of the last restore. */
  journal: string
  /** File of the scanner. */
  index: string
  identities: Identities
  clock: Pick<Clock, 'after' | 'elapsed'>
  log: Log
  /** Called before the first step. `hasForeign`: files come back that another user wrote. */
  onRestore(hasForeign: boolean): Promise<void>
  /** Called after the workspace has changed. */
  onChanged(): void
}

type Session = {
  id: string
  rules: HistoryRules
  base: string | null
  target: Target
  state: RestoreState
  fault: string | null
  listing: Listing | null
  plan: Plan | null
  /** Contents that the plan needs, each with one of its paths. */
  needs: Map<string, { path: string; sparse: boolean }>
  /** Folder of the stage, known before it exists. */
  stagePath: string | null
  stage: Stage | null
  work: Promise<void> | null
}

type Applying = Journal & { phase: 'applying' }

const idForm = /^[a-z0-9-]{1,64}$/
/** Less than the platform's timeout for an answer. */
const lookMs = 5000
/** The platform continues within seconds, unless it has ended. */
const idleMs = 10 * 60_000
const nothing = {
  fault: null,
  ...{ added: 0, changed: 0, attributes: 0, deleted: 0 },
  ...{ conflicts: [], conflict_count: 0 },
}

export function createRestores(deps: RestoresDeps): Restores {
  const { home, identities, clock, log } = deps
  let session: Session | null = null
  let cancelIdle = () => {}
  /** Why the steps of the journal are not complete. */
  let stuck: string | null = null
  let queue: Promise<unknown> = Promise.resolve()

  /** Calls change one restore, so they run one after another. */
  function next<T>(act: () => Promise<T>): Promise<T> {
    const result = queue.then(act)
    queue = result.catch(() => {})
    return result
  }

  function find(id: string, ...states: RestoreState[]): Session {
    if (session?.id !== id)
      throw new LinkFault('file_not_found', 'The restore does not exist or has expired.')
    if (states.length > 0 && !states.includes(session.state))
      throw new LinkFault('invalid_message', `The restore is ${session.state}.`)
    touch()
    return session
  }

  function touch(): void {
    cancelIdle()
    cancelIdle = clock.after(idleMs, () => void next(expire).catch(() => {}))
  }

  async function expire(): Promise<void> {
    if (session && !session.work) await discard(session, 'discarded', null)
  }

  /** Leaves the workspace as it is. */
  async function discard(it: Session, state: RestoreState, fault: string | null): Promise<void> {
    const { stage, stagePath } = it
    forget(it)
    it.needs.clear()
    cancelIdle()
    stage?.close()
    if (stagePath !== null) await clearStage(it, stagePath).catch(warn('files of a restore not removed'))
    it.state = state
    it.fault = fault
  }

  function forget(it: Session): void {
    it.stage = null
    it.stagePath = null
    it.plan = null
    it.listing = null
  }

  async function clearStage({ id }: Session, path: string): Promise<void> {
    using beneath = openBeneath(home)
    // First, because the disk may be full.
    await removeStage(beneath, path, clock)
    await writeJournal(deps.journal, { id, phase: 'discarded', stage: null })
  }

  function warn(what: string) {
    return (fault: unknown) => log.warn(what, { reason: faultText(fault) })
  }

  /** Runs long work that `look` waits for. A failure leaves the workspace as it is. */
  function work(it: Session, state: RestoreState, act: () => Promise<void>): void {
    it.state = state
    cancelIdle()
    it.work = act()
      .catch((fault: unknown) => discard(it, 'failed', textOf(fault)))
      .catch(warn('restore not discarded'))
      .finally(() => {
        it.work = null
        if (it.state === 'compared') touch()
      })
  }

  async function compare(it: Session): Promise<void> {
    const index = it.base === null ? null : await readIndex(deps.index)
    using beneath = openBeneath(home)
    const listing = await listWorkspace(home, it.rules, identities, it.target.scope)
    it.listing = listing
    it.plan = await planRestore({
      target: it.target,
      listing,
      index: index?.record === it.base ? index : null,
      home: beneath,
      isOwners: (uid) => uid === identities.developer.uid || uid === 0,
      strangerUid: readerId,
    })
    for (const item of it.plan.items) {
      for (const { kind, content, path, sparse } of item) {
        const known = it.needs.get(content)
        if (kind !== 'folder') it.needs.set(content, { path, sparse: sparse || known?.sparse === true })
      }
    }
    it.state = 'compared'
  }

  async function stageOf(it: Session): Promise<Stage> {
    if (it.stage) return it.stage
    using beneath = openBeneath(home)
    const path = newStagePath(beneath)
    it.stagePath = path
    // A kill right after the folder was created must not leave it behind.
    await writeJournal(deps.journal, { id: it.id, phase: 'staging', stage: path })
    const sparse = [...it.needs].filter(([, need]) => need.sparse).map(([content]) => content)
    it.stage = createStage({ home: beneath, identities, clock }, path, new Set(sparse))
    return it.stage
  }

  async function apply(it: Session, overwrite: boolean): Promise<void> {
    const { plan, listing } = it
    if (!plan || !listing) return
    const { changes, items, steps, conflicts } = plan
    const stage = items.length > 0 ? await stageOf(it) : null
    const inodes = (await stage?.arrange(items)) ?? []
    if (stage) await syncVolume()
    if (!overwrite && (await hasMoved(it, listing))) return discard(it, 'moved', null)
    await deps.onRestore(hasForeign(plan))
    const journal: Applying = {
      ...{ id: it.id, phase: 'applying', ...countsOf(changes) },
      steps: steps.map((step) => withInode(step, inodes)),
      stage: it.stagePath,
      inode: stage && String(stage.inode),
      ...{ conflicts: conflicts.slice(0, maxNamedConflicts), conflictCount: conflicts.length },
    }
    try {
      await writeJournal(deps.journal, journal)
    } catch (fault) {
      // It may have been replaced before the fault: then the steps count.
      if ((await readJournal(deps.journal))?.phase !== 'applying') throw fault
    }
    forget(it)
    try {
      await complete(journal, stage?.beneath ?? null)
      it.state = 'restored'
    } catch {
      // Known to `look`, which tries again.
    } finally {
      stage?.close()
    }
  }

  async function hasMoved({ target, rules }: Session, listing: Listing): Promise<boolean> {
    const now = await listWorkspace(home, rules, identities, target.scope)
    for (const path of changedPaths(listing, now))
      if (target.isSelected(path) && !target.isLeftOut(path)) return true
    return false
  }

  /** Does the steps of the journal. Throws if the disk is full or faulty; then it can be repeated. */
  async function complete(journal: Applying, opened: Beneath | null): Promise<void> {
    stuck = null
    try {
      using beneath = openBeneath(home)
      const { stage, inode } = journal
      using found = opened || !stage || !inode ? null : await findStage(beneath, stage, BigInt(inode))
      await finish(journal, beneath, opened ?? found?.beneath ?? null)
      const path = found?.path ?? stage
      if (path !== null) await removeStage(beneath, path, clock).catch(warn('files of a restore not removed'))
    } catch (fault) {
      stuck = textOf(fault)
      log.warn('restore not completed', { reason: faultText(fault) })
      throw fault
    } finally {
      deps.onChanged()
    }
  }

  async function finish(journal: Applying, beneath: Beneath, stage: Beneath | null): Promise<void> {
    const { steps, inode: _, ...rest } = journal
    const conflicts: Conflicts = { named: [...journal.conflicts], count: journal.conflictCount }
    await applySteps({ home: beneath, stage, owner: identities.developer, clock }, steps, conflicts)
    await syncVolume()
    const { named, count } = conflicts
    await writeJournal(deps.journal, { ...rest, phase: 'restored', conflicts: named, conflictCount: count })
  }

  async function findStage(beneath: Beneath, path: string, inode: bigint) {
    const found = openStage(beneath, [path], inode)
    if (found) return found
    // A run may have moved the folder, but not changed it.
    const moved = openStage(beneath, await foldersOfInode(home, inode, identities), inode)
    if (!moved) log.warn('files of a restore are gone', {})
    return moved
  }

  /** Writes everything of the workspace's volume to its disk. */
  function syncVolume(): Promise<void> {
    const { command, args, options } = identities.as(identities.developer, '/bin/sync', ['-f', home])
    const child = spawn(command, args, { ...options, cwd: '/', stdio: 'ignore', env: {} })
    return new Promise((resolve, reject) => {
      const failed = () => reject(new LinkFault('io_error', 'The workspace could not be synced.'))
      child.once('error', failed)
      child.once('exit', (code) => (code === 0 ? resolve() : failed()))
    })
  }

  /** Completes steps that a full disk has interrupted. */
  async function retry(id: string): Promise<void> {
    const journal = await readJournal(deps.journal)
    if (journal?.id === id && journal.phase === 'applying') return next(resume).catch(() => {})
  }

  function within(ms: number, work: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(ms, resolve)
      void work.finally(() => {
        cancel()
        resolve()
      })
    })
  }

  async function resume(): Promise<void> {
    const journal = await readJournal(deps.journal)
    if (journal?.phase === 'applying') await complete(journal, null)
    else if (journal?.stage) {
      using beneath = openBeneath(home)
      await removeStage(beneath, journal.stage, clock)
      const ended = journal.phase === 'restored' ? journal : ({ id: journal.id, phase: 'discarded' } as const)
      await writeJournal(deps.journal, { ...ended, stage: null })
    }
  }

  return {
    open: (id, paths, rules) =>
      next(async () => {
        if (!idForm.test(id)) throw new LinkFault('invalid_message', 'The restore has an invalid id.')
        // A comparison only reads, so its result may be discarded.
        if (session?.work && session.state !== 'comparing')
          throw new LinkFault('io_error', 'Another restore is not complete.')
        if (session) await discard(session, 'discarded', null)
        session = null
        // Completes an interrupted restore first.
        await resume()
        const base = (await readIndex(deps.index))?.record ?? null
        session = {
          ...{ id, rules, base, target: createTarget(paths), state: 'opened', fault: null },
          ...{ listing: null, plan: null, needs: new Map(), stagePath: null, stage: null, work: null },
        }
        touch()
        return { base }
      }),
    target: (id, entries, leftOut) => next(async () => find(id, 'opened').target.add(entries, leftOut)),
    compare: (id) =>
      next(async () => {
        const it = find(id, 'opened')
        work(it, 'comparing', () => compare(it))
      }),
    async look(id) {
      const it = session?.id === id ? session : null
      await within(lookMs, it?.work ?? retry(id))
      if (it && (it.work || (it.state !== 'restored' && it.state !== 'applying'))) return answerOf(it)
      const journal = await readJournal(deps.journal)
      if (journal?.id === id && journal.phase !== 'staging') return answerOfJournal(journal, stuck)
      return it ? answerOf(it) : { ...nothing, state: 'unknown' }
    },
    changes: (id, offset) =>
      next(async () => {
        const all = find(id, 'compared').plan?.changes ?? []
        return { changes: pageOf(all, offset), total: all.length }
      }),
    needs: (id, offset) =>
      next(async () => {
        const { needs } = find(id, 'compared')
        const all = Array.from(needs, ([content, { path }]) => ({ content, path }))
        return { needs: pageOf(all, offset), total: all.length }
      }),
    write: (id, pieces) =>
      next(async () => {
        const it = find(id, 'compared')
        try {
          const stage = await stageOf(it)
          for (const { content, offset, bytes, last } of pieces) {
            if (!it.needs.has(content))
              throw new LinkFault('invalid_message', 'The restore does not need this content.')
            await stage.write(content, offset, bytes, last)
          }
        } catch (fault) {
          await discard(it, 'failed', textOf(fault))
          throw fault instanceof LinkFault ? fault : new LinkFault('io_error', textOf(fault))
        }
      }),
    apply: (id, overwrite) =>
      next(async () => {
        const it = find(id, 'compared')
        for (const content of it.needs.keys())
          if (!it.stage?.isComplete(content))
            throw new LinkFault('invalid_message', 'The restore needs contents that were not sent.')
        work(it, 'applying', () => apply(it, overwrite))
      }),
    close: (id) =>
      next(async () => {
        if (session?.id !== id || session.work) return
        if (session.state === 'opened' || session.state === 'compared')
          await discard(session, 'discarded', null)
      }),
    resume: () => next(resume),
  }
}

function countsOf(changes: readonly RestoreChange[]): Counts {
  const counts: Counts = { added: 0, changed: 0, attributes: 0, deleted: 0 }
  for (const { change } of changes) counts[change] += 1
  return counts
}

function pageOf<T extends { path: string }>(all: readonly T[], offset: number): T[] {
  const page: T[] = []
  let characters = 0
  for (const each of all.slice(offset, offset + restorePageEntries)) {
    characters += each.path.length
    if (page.length > 0 && characters > restorePageCharacters) break
    page.push(each)
  }
  return page
}

function withInode(step: Step, inodes: readonly string[]): Step {
  if (step.do !== 'mode' && step.do !== 'owner') return step
  return step.item === null ? step : { ...step, inode: inodes[step.item] ?? null }
}

function hasForeign({ items, steps }: Plan): boolean {
  return (
    items.some((item) => item.some(({ uid }) => uid !== null)) ||
    steps.some((step) => step.do === 'owner' && step.uid !== null)
  )
}

function answerOf({ state, fault, plan }: Session): RestoreLookAnswer {
  if (!plan) return { ...nothing, state, fault }
  const { changes, conflicts } = plan
  return {
    ...{ state, fault, ...countsOf(changes) },
    ...{ conflicts: conflicts.slice(0, maxNamedConflicts), conflict_count: conflicts.length },
  }
}

function answerOfJournal(journal: Journal, stuck: string | null): RestoreLookAnswer {
  if (journal.phase === 'staging' || journal.phase === 'discarded') return { ...nothing, state: 'discarded' }
  const { phase, added, changed, attributes, deleted, conflicts, conflictCount } = journal
  return {
    ...{ state: phase, fault: phase === 'applying' ? stuck : null },
    ...{ added, changed, attributes, deleted, conflicts, conflict_count: conflictCount },
  }
}

function textOf(fault: unknown): string {
  if (fault instanceof LinkFault) return fault.message
  const code = (fault as NodeJS.ErrnoException).code
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'The disk of the workspace is full.'
  return `The restore failed: ${code ?? 'an unexpected fault'}.`
}
