import type { RecordReason, RunRecordReason } from '@roost/contracts/agents/history'
import { type Clock, timestamp, waitEnded } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { reasonOf } from './faults.ts'
import type { MadeRecord, RecordRequest } from './record.ts'
import { historyStore, type OpenRun } from './store.ts'
import type { RunRecordsRow } from './tables.ts'

/** Records the workspace before and after runs. Runs that overlap share their records. */
export type RunRecording = {
  /** False: runs need not wait for records. */
  isOn(agentId: string): Promise<boolean>
  /**
   * Called before an agent claims runs. Returns false while a record is being made: the agent is woken after it. A
   * record that takes too long is not waited for.
   */
  mayClaim(agentId: string, runs: AgentRuns): Promise<boolean>
  /** Called before claimed runs are handed to their agent. */
  started(agentId: string, runs: readonly StartedRun[]): Promise<void>
}

/** `running`: ids of the agent's runs that hold a slot. `isWaiting`: others wait for one. */
export type AgentRuns = { running: readonly string[]; isWaiting: boolean }

/** `isOwners`: it has the owner's rights. */
export type StartedRun = { id: string; mayWrite: boolean; isOwners: boolean }

export type AroundRunsDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn' | 'debug'>
  link: Pick<AgentLink, 'wake'>
  isOn(agentId: string): Promise<boolean>
  make(agentId: string, request: RecordRequest): Promise<MadeRecord>
  /** A run was not recorded because of a quota. */
  full(agentId: string): void
  made(result: 'new' | 'unchanged' | RunRecordReason | 'link_lost', seconds: number): void
  /** The workspace is as in this record, which may be an earlier one. */
  recorded(agentId: string, recordId: string): void
}

/** A record that is being made. `isLate`: its turn did not wait for it. `isAwaited`: at its end the agent claims again. */
type Work = { kind: 'before_run' | 'after_run'; settled: Promise<void>; isLate: boolean; isAwaited: boolean }
/** What the next run gets as the record before it. */
type Before = { id: string } | { reason: RunRecordReason }

/** How long a claim waits; the agent expects its answer within `answerSeconds`. */
const claimWaitMs = 10_000
/** How long a turn waits altogether. */
const maxTurnWaitMs = 120_000
/** Open runs that a claim reads; more only if it needs them. */
const fewRuns = 50

export function createAroundRuns(deps: AroundRunsDeps): RunRecording {
  const { db, clock, log, link } = deps
  const store = historyStore(db)
  const works = new Map<string, Work>()
  const prepared = new Map<string, Before>()

  /** Starts the record that is due; null without one. */
  async function begin(agentId: string, { running, isWaiting }: AgentRuns): Promise<Work | null> {
    const first = await store.openRuns(agentId, fewRuns)
    const isAll = first.length < fewRuns
    // Those that have not ended come first.
    const hasMoreRunning = !isAll && first.every(({ ended_at }) => ended_at === null)
    const open = hasMoreRunning ? await store.openRuns(agentId) : first
    const ended = open.filter(({ ended_at, execution_id: id }) => ended_at === null && !running.includes(id))
    await store.endRuns(idsOf(ended), timestamp(clock.now()))
    const isBusy = open.some(({ execution_id }) => running.includes(execution_id))
    if (isBusy || (open.length === 0 && !isWaiting)) return null
    const group = isAll || hasMoreRunning ? open : await store.openRuns(agentId)
    return works.get(agentId) ?? start(agentId, idsOf(group))
  }

  function start(agentId: string, ids: readonly string[]): Work {
    const over = new AbortController()
    const work: Work = {
      kind: ids.length > 0 ? 'after_run' : 'before_run',
      settled: Promise.resolve(),
      isLate: false,
      isAwaited: false,
    }
    works.set(agentId, work)
    work.settled = record(agentId, work, ids)
      .catch((error: unknown) =>
        log.warn({ err: error, agent_id: agentId }, 'the outcome of a record could not be stored'),
      )
      .finally(() => {
        over.abort(waitEnded)
        works.delete(agentId)
        if (work.isAwaited) link.wake(agentId)
      })
    void clock.wait(maxTurnWaitMs, over.signal).then(() => {
      if (!over.signal.aborted) void giveUp(agentId, work, ids)
    })
    return work
  }

  async function record(agentId: string, work: Work, ids: readonly string[]): Promise<void> {
    const begin = clock.now().getTime()
    const seconds = () => (clock.now().getTime() - begin) / 1000
    // What changes during the record may be part of it.
    const reason = (): RecordReason => (work.isLate ? 'demand' : work.kind)
    try {
      const { record, isNew } = await deps.make(agentId, { reason })
      await store.completeRuns(ids, { after: record.id })
      if (!work.isLate) prepared.set(agentId, { id: record.id })
      deps.made(isNew ? 'new' : 'unchanged', seconds())
      deps.recorded(agentId, record.id)
    } catch (error) {
      const failed = reasonOf(error)
      deps.made(failed ?? 'link_lost', seconds())
      // The agent claims on its next link, and the record is made then. That claim may have found this one at work.
      if (failed === null) {
        work.isAwaited = true
        return
      }
      const isExpected = failed === 'agent_outdated' || failed === 'quota_full'
      log[isExpected ? 'debug' : 'warn'](
        { err: error, agent_id: agentId, reason: failed },
        'a workspace was not recorded',
      )
      await fail(agentId, ids, failed)
      if (failed === 'quota_full') deps.full(agentId)
    }
  }

  async function fail(agentId: string, ids: readonly string[], reason: RunRecordReason): Promise<void> {
    prepared.set(agentId, { reason })
    await store.completeRuns(ids, { reason })
  }

  /** The turn starts without a record before it; the record is completed for the next one. */
  async function giveUp(agentId: string, work: Work, ids: readonly string[]): Promise<void> {
    log.warn({ agent_id: agentId }, 'a workspace is recorded too slowly; its turn does not wait any longer')
    // First, so that runs which start then do not share the record before these ones.
    await fail(agentId, ids, 'agent_timeout').catch((error: unknown) =>
      log.warn({ err: error, agent_id: agentId }, 'the runs of a slow record could not be updated'),
    )
    work.isLate = true
    link.wake(agentId)
  }

  /** Returns whether it was settled in time. */
  async function settledSoon(work: Work): Promise<boolean> {
    const over = new AbortController()
    try {
      return await Promise.race([
        work.settled.then(() => true),
        clock.wait(claimWaitMs, over.signal).then(() => false),
      ])
    } finally {
      over.abort(waitEnded)
    }
  }

  return {
    isOn: deps.isOn,

    async mayClaim(agentId, runs) {
      const work = works.get(agentId) ?? (await begin(agentId, runs))
      if (!work || !runs.isWaiting || work.isLate) return true
      // The record after the last run is also the one before the next.
      if ((await settledSoon(work)) || work.isLate || works.get(agentId) !== work) return true
      work.isAwaited = true
      return false
    },

    async started(agentId, runs) {
      const before = prepared.get(agentId)
      const isOff = !(await deps.isOn(agentId))
      const ids = runs.map(({ id }) => id)
      if (isOff) {
        const open = idsOf(await store.openRuns(agentId)).filter((id) => !ids.includes(id))
        await store.completeRuns(open, { reason: 'history_off' })
      }
      const shared = isOff ? null : await store.sharedBefore(agentId, ids)
      const at = timestamp(clock.now())
      const rows = runs.map(({ id, mayWrite, isOwners }): RunRecordsRow => {
        const row = { ...blankRow(agentId, id, at), by_owner: isOwners ? 1 : 0 }
        if (isOff) return { ...row, outcome: 'skipped', reason: 'history_off' }
        if (!mayWrite) return { ...row, outcome: 'skipped', reason: 'run_may_not_write' }
        return { ...row, ...(shared ?? columnsOf(before)) }
      })
      await store.beginRuns(rows)
      prepared.delete(agentId)
    },
  }
}

function idsOf(runs: readonly OpenRun[]): string[] {
  return runs.map(({ execution_id }) => execution_id)
}

function columnsOf(before: Before | undefined): Pick<RunRecordsRow, 'before_id' | 'reason'> {
  if (!before) return { before_id: null, reason: 'platform_stopped' }
  return 'id' in before ? { before_id: before.id, reason: null } : { before_id: null, reason: before.reason }
}

function blankRow(agent_id: string, execution_id: string, started_at: string): RunRecordsRow {
  return {
    ...{ execution_id, agent_id, outcome: 'recording', reason: null, before_id: null, after_id: null },
    ...{ overlapped: '[]', overlapped_count: 0, started_at, ended_at: null, by_owner: 0 },
  }
}
