import { randomUUID } from 'node:crypto'
import { type RestoreReason, restoreReasonTexts, runRecordReasonTexts } from '@roost/contracts/agents/history'
import type { HistoryRules } from '@roost/contracts/link/history'
import { maxNamedConflicts } from '@roost/contracts/link/history-restore'
import type { Alerts } from '../../foundation/alerts/index.ts'
import { type HoldDeps, holdLease } from '../../foundation/leases/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { createTurnsByKey, type TurnsByKey } from '../../kit/turns.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { HistoryFull, UnknownRecord, type WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { recordedChanges } from './changes.ts'
import { reasonOf } from './faults.ts'
import { rulesOf } from './fill.ts'
import { type Merge, mergeOf } from './merge.ts'
import type { MadeRecord, RecordRequest } from './record.ts'
import {
  applyRestore,
  type RestoreEnd,
  type RestoreOptions,
  RestoreUnsettled,
  restoreEnd,
} from './restore.ts'
import type { RestoreRequest } from './restore-request.ts'
import { restoreStore } from './restore-store.ts'
import { joinedRules } from './restore-target.ts'
import { keptPathsOf, leftOutOf, storeName } from './rules.ts'
import { historyStore } from './store.ts'
import type { RecordRow, RestoreRow, StoredConflict } from './tables.ts'
import { undoAlert } from './undo-alert.ts'

type Make = (request: RecordRequest) => Promise<MadeRecord>

export type RestoreDriverDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  leases: HoldDeps['leases']
  alerts: Pick<Alerts, 'raise'>
  link: Pick<AgentLink, 'call' | 'wake' | 'isHere'>
  history: WorkspaceHistory
  rulesOf(agentId: string): Promise<HistoryRules>
  /** For work during which nobody else may record the workspace. `signal` ends the wait for it. */
  inTurn<T>(agentId: string, work: (make: Make) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Removes old records of an agent whose quota is used up. */
  makeRoom(agentId: string): Promise<unknown>
  /** Locks the agent's queue, so that no run starts until the transaction ends. Returns the ids of running ones. */
  lockRuns(tx: Tx, agentId: string): Promise<string[]>
}

export type RestoreDriver = {
  /** Takes the next step of the agent's open restore, if its link is here and nobody else does. */
  kick(agentId: string): void
  /** Ends a restore, or lets the filling of a new workspace wait. Returns false if it is no longer in this state. */
  conclude(row: RestoreRow, to: EndColumns): Promise<boolean>
  /** An agent compares for one restore at a time. */
  turns: TurnsByKey
  optionsOf(request: RestoreRequest, restoreId: string, signal: AbortSignal): Promise<RestoreOptions>
  /** Whether this process restores the agent's workspace now. */
  isWorking(agentId: string): boolean
  /** Starts nothing more. Resolves when the current work has ended. */
  close(): Promise<void>
}

/** `ours`: the record of the workspace before the merge. */
type RestoredMerge = Merge & { base: RecordRow; ours: RecordRow }

type EndColumns = Parameters<ReturnType<typeof restoreStore>['end']>[2]

/** The workspace could not be recorded before it; nothing has changed. */
class NotRecorded extends Error {}

/** A merge would change what the workspace has changed as well; nothing has changed. */
class ChangedMeanwhile extends Error {
  readonly paths: readonly string[]
  constructor(paths: readonly string[]) {
    super('The workspace changed the same files.')
    this.paths = paths
  }
}

/** Time between two attempts to fill a new workspace, each of which may record it. */
const fillAgainMs = 10 * 60_000
/** After a fault that may be over soon, before anything was recorded. */
const fillSoonMs = 30_000
const passingFaults: readonly (RestoreReason | null)[] = [
  'agent_unresponsive',
  'platform_stopped',
  'not_recorded',
]
/** Selected paths of a merge: they go to the agent in one message. */
const maxMergePaths = 20_000
const maxMergeCharacters = 1_000_000
const leaseSeconds = 10
/** A process that has been stopping runs for longer has ended. */
const maxStopMs = 60_000

/**
 * Drives open restores in the process that holds the agent's link, because records are made there. While a restore is
 * open, the agent gets no run; it begins under the lock of the agent's queue when none is running.
 */
export function createRestoreDriver(deps: RestoreDriverDeps): RestoreDriver {
  const { db, clock, log, link, history } = deps
  const store = restoreStore(db)
  const records = historyStore(db)
  const holder = randomUUID()
  const closing = new AbortController()
  const jobs = new Map<string, Promise<void>>()
  /** Agents whose job may have looked for an open restore before the latest one was requested. */
  const again = new Set<string>()
  const working = new Set<string>()
  const turns = createTurnsByKey()
  const now = () => timestamp(clock.now())
  const ageMs = (at: string) => clock.now().getTime() - Date.parse(at)

  async function optionsOf(
    { agentId, record, paths, leftOut }: RestoreRequest,
    restoreId: string,
    signal: AbortSignal,
  ): Promise<RestoreOptions> {
    const storeAgent = storeName(agentId)
    return {
      ...{ restoreId, agentId, storeAgent, paths, leftOut, signal },
      source: { agent: storeAgent, record: record.id },
      rules: joinedRules(rulesOf(record), await deps.rulesOf(agentId)),
    }
  }

  function kick(agentId: string): void {
    if (closing.signal.aborted || !link.isHere(agentId)) return
    if (jobs.has(agentId)) {
      again.add(agentId)
      return
    }
    const job = drive(agentId)
      .catch((error: unknown) =>
        log.warn({ err: error, agent_id: agentId }, 'a restore could not be continued'),
      )
      .finally(() => {
        jobs.delete(agentId)
        if (again.delete(agentId)) kick(agentId)
      })
    jobs.set(agentId, job)
  }

  async function drive(agentId: string): Promise<void> {
    if (!(await store.isOpen(agentId))) return
    const hold = await holdLease(deps, { name: `restore:${agentId}`, holder, seconds: leaseSeconds })
    if (!hold) return
    let isOpen = true
    try {
      // Read after the lease: nobody else changes it now.
      const row = await store.openOf(agentId)
      if (!row) return
      await turns(agentId, async () => {
        if (row.state !== 'waiting') return settle(row)
        const begun = await begin(row)
        if (begun) await work(begun, AbortSignal.any([hold.lost, closing.signal]))
      })
      isOpen = await store.isOpen(agentId)
    } finally {
      working.delete(agentId)
      await hold.release()
      if (!isOpen) link.wake(agentId)
    }
  }

  /** Returns null while runs are working. */
  async function begin(row: RestoreRow): Promise<RestoreRow | null> {
    if (row.reason === 'stopping_runs' && ageMs(row.updated_at) < maxStopMs) return null
    if (row.fills_new === 1 && row.reason !== null) {
      const waitMs = passingFaults.includes(row.reason) ? fillSoonMs : fillAgainMs
      if (ageMs(row.updated_at) < waitMs) return null
    }
    let isLate = false
    const isBegun = await db.atomically(async (tx) => {
      const running = await deps.lockRuns(tx, row.agent_id)
      isLate = row.run_id !== null && (running.length > 0 || (await hasLaterRuns(tx, row)))
      if (isLate || running.length > 0) return false
      return restoreStore(tx).change(row, now(), { state: 'working', runner: holder, reason: null })
    })
    if (isLate) await conclude(row, { state: 'failed', reason: 'later_runs' })
    if (!isBegun) return null
    working.add(row.agent_id)
    return { ...row, state: 'working', runner: holder, reason: null }
  }

  /** An automatic undo must not discard what others have changed since. */
  async function hasLaterRuns(tx: Tx, { run_id, validation_id }: RestoreRow): Promise<boolean> {
    const on = historyStore(tx)
    const run = run_id === null ? null : await on.runOf(run_id)
    if (run === null || (await on.overlapOf(run)).count > 0) return true
    return on.hasLaterRuns(run, validation_id)
  }

  async function work(row: RestoreRow, signal: AbortSignal): Promise<void> {
    const { agent_id: agentId } = row
    try {
      const record = await records.record(agentId, row.record_id)
      if (!record) throw new UnknownRecord(row.record_id)
      const request = { agentId, record, paths: pathsOf(row), leftOut: keptPathsOf(record) }
      const options = await optionsOf(request, row.id, signal)
      await deps.inTurn(
        agentId,
        async (make) => {
          let merge: RestoredMerge | null = null
          const recordBefore = async () => {
            // Nothing to undo, and the record of an empty workspace must not become the latest.
            if (row.fills_new === 1) return
            const { record: before } = await madeBefore(agentId, make, signal)
            const found = await mergeFor(row, before.id)
            if (merge && merge.paths.join('\0') !== found?.paths.join('\0'))
              throw new Fault('conflict', 'The workspace changed meanwhile. Try again.')
            merge = found
            await store.change(row, now(), { before_id: before.id })
            // The runs before it have ended, and what follows is not theirs.
            const runs = (await records.openRuns(agentId)).map(({ execution_id }) => execution_id)
            await records.endRuns(runs, now())
            await records.completeRuns(runs, { after: before.id })
          }
          // What to merge is known once the workspace is recorded.
          if (row.merge_base_id !== null) await recordBefore()
          const restore = merge ? mergeOptions(options, merge) : options
          await finish(row, await applyRestore({ link, history, clock }, restore, recordBefore), make)
        },
        signal,
      )
    } catch (error) {
      await failed(row, error)
    }
  }

  /** Null: the restore is no merge. Throws `ChangedMeanwhile`. */
  async function mergeFor(row: RestoreRow, beforeId: string): Promise<RestoredMerge | null> {
    if (row.merge_base_id === null) return null
    const recordOf = async (id: string) => {
      const record = await records.record(row.agent_id, id)
      if (!record) throw new UnknownRecord(id)
      return record
    }
    const [base, theirs, ours] = await Promise.all([
      recordOf(row.merge_base_id),
      recordOf(row.record_id),
      recordOf(beforeId),
    ])
    const changesTo = async (to: RecordRow, before: readonly string[]) =>
      recordedChanges(await history.changes(idOf(base), idOf(to)), { before, after: leftOutOf(to) })
    const merge = mergeOf(
      await changesTo(theirs, leftOutOf(base)),
      // What only the base left out, such as a file that was too large, exists on this side alone.
      await changesTo(ours, []),
      row.overwrite === 1,
    )
    if (merge.conflicts.length > 0 && row.overwrite === 0) throw new ChangedMeanwhile(merge.conflicts)
    const characters = merge.paths.reduce((sum, path) => sum + path.length, 0)
    if (merge.paths.length > maxMergePaths || characters > maxMergeCharacters)
      throw new Fault('conflict', `More than ${maxMergePaths} paths would have to be merged.`)
    return { ...merge, base, ours }
  }

  async function madeBefore(agentId: string, make: Make, signal: AbortSignal): Promise<MadeRecord> {
    const once = () => make({ reason: () => 'before_restore', signal })
    try {
      return await once().catch(async (error: unknown) => {
        if (!(error instanceof HistoryFull)) throw error
        await deps.makeRoom(agentId)
        return once()
      })
    } catch (error) {
      signal.throwIfAborted()
      const reason = reasonOf(error)
      if (reason === null) throw new Fault('agent_unresponsive', undefined, {}, { cause: error })
      if (reason === 'agent_outdated')
        throw new Fault('agent_program_outdated', undefined, {}, { cause: error })
      throw new NotRecorded(`${restoreReasonTexts.not_recorded} ${runRecordReasonTexts[reason]}`, {
        cause: error,
      })
    }
  }

  async function finish(row: RestoreRow, end: RestoreEnd, make: Make): Promise<void> {
    const { outcome, fault, conflicts, ...counts } = end
    const columns = { ...counts, conflicts: JSON.stringify(conflicts) }
    if (outcome === 'applying') {
      await store.change(row, now(), {
        ...columns,
        ...{ state: 'applying', reason: 'workspace_fault', message: fault },
      })
      return
    }
    if (outcome === 'unchanged' && fault !== null) {
      await conclude(row, { ...columns, state: 'failed', reason: 'workspace_fault', message: fault })
      return
    }
    let after: string | null = null
    let message: string | null = null
    if (outcome === 'restored')
      try {
        after = (await make({ reason: () => 'after_restore', sourceId: row.record_id })).record.id
      } catch (error) {
        message = `The workspace could not be recorded afterwards. ${runRecordReasonTexts[reasonOf(error) ?? 'agent_unreachable']}`
        log.warn({ err: error, agent_id: row.agent_id }, 'a restored workspace was not recorded')
      }
    await conclude(row, { ...columns, state: outcome, reason: null, message, after_id: after })
  }

  async function failed(row: RestoreRow, error: unknown): Promise<void> {
    if (error instanceof RestoreUnsettled) {
      await store.change(row, now(), { state: 'applying', reason: 'agent_unresponsive' })
      return
    }
    if (error instanceof ChangedMeanwhile) {
      const named = error.paths.slice(0, maxNamedConflicts)
      const conflicts: StoredConflict[] = named.map((path) => ({ path, reason: 'changed_meanwhile' }))
      await conclude(row, {
        ...{ state: 'failed', reason: 'changed_meanwhile', message: error.message },
        ...{ conflicts: JSON.stringify(conflicts), conflict_count: error.paths.length },
      })
      return
    }
    const failure = closing.signal.aborted
      ? { reason: 'platform_stopped' as const, message: null }
      : failureOf(error)
    if (failure.reason === 'platform_fault')
      log.error({ err: error, agent_id: row.agent_id, restore: row.id }, 'a restore failed')
    await conclude(row, { state: 'failed', ...failure })
  }

  async function conclude(row: RestoreRow, to: EndColumns): Promise<boolean> {
    if (row.fills_new === 1 && to.state === 'failed' && to.reason !== 'cancelled') {
      const { state: _, ...fault } = to
      return store.change(row, now(), { ...fault, state: 'waiting', runner: null })
    }
    const { agent_id, id } = row
    const isEnded = await db.atomically(async (tx) => {
      if (!(await restoreStore(tx).end(row, now(), to))) return false
      const isNews = to.state === 'restored' || (to.state === 'failed' && to.reason !== 'cancelled')
      const undone = row.run_id === null || !isNews ? null : await restoreStore(tx).byId(agent_id, id)
      if (undone) {
        const before = await historyStore(tx).record(agent_id, undone.before_id ?? '')
        await deps.alerts.raise(tx, undoAlert(undone, before?.number ?? null))
      }
      return true
    })
    if (!isEnded) return false
    log.info({ agent_id, restore: id, state: to.state, reason: to.reason ?? null }, 'a restore has ended')
    return true
  }

  /** Decides the end of a restore that was interrupted, as its agent knows it. */
  async function settle(row: RestoreRow): Promise<void> {
    const { agent_id: agentId } = row
    const taken = { ...row, runner: holder }
    working.add(agentId)
    if (!(await store.change(row, now(), { runner: holder }))) return
    try {
      await deps.inTurn(
        agentId,
        async (make) => {
          const end = await restoreEnd({ link, history, clock }, { agentId, restoreId: row.id })
          if (end.outcome !== 'unchanged') return finish(taken, end, make)
          const reason = row.state === 'working' ? 'platform_stopped' : 'agent_unresponsive'
          await conclude(taken, { state: 'failed', reason, message: end.fault })
        },
        closing.signal,
      )
    } catch (error) {
      // An agent that does not answer is asked again.
      if (!(error instanceof Fault) || error.code === 'agent_unresponsive') throw error
      await failed(taken, error)
    }
  }

  return {
    kick,
    conclude,
    turns,
    optionsOf,
    isWorking: (agentId) => working.has(agentId),
    async close() {
      closing.abort()
      await Promise.all(jobs.values())
    },
  }
}

function failureOf(error: unknown): { reason: RestoreReason; message: string | null } {
  if (error instanceof UnknownRecord) return { reason: 'record_removed', message: null }
  if (error instanceof NotRecorded) return { reason: 'not_recorded', message: error.message }
  if (!(error instanceof Fault)) return { reason: 'platform_fault', message: null }
  if (error.code === 'agent_unresponsive' || error.code === 'agent_program_outdated')
    return { reason: error.code, message: null }
  return { reason: 'workspace_fault', message: error.message }
}

/** What the base or the workspace leaves out is missing in the attempt, but the attempt did not delete it. */
function mergeOptions(options: RestoreOptions, { paths, base, ours }: RestoredMerge): RestoreOptions {
  return {
    ...options,
    paths,
    rules: joinedRules(options.rules, rulesOf(base)),
    leftOut: [...new Set([base, ours].flatMap(keptPathsOf).concat(options.leftOut))],
  }
}

const idOf = ({ agent_id, id }: RecordRow) => ({ agent: storeName(agent_id), record: id })

/** Written by this platform. */
const pathsOf = ({ paths }: RestoreRow) => JSON.parse(paths) as string[]
