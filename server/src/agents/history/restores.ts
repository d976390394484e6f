import { randomUUID } from 'node:crypto'
import type { Restore } from '@roost/contracts/agents/workspace-restore'
import type { Loop } from '../../background/loops.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Tx } from '../../ports/database/port.ts'
import { UnknownRecord } from '../../ports/workspace-history/port.ts'
import type { AgentRecords } from '../records/index.ts'
import { shownPath } from './paths.ts'
import { recordView } from './reader.ts'
import { previewRestore } from './restore.ts'
import { createRestoreDriver, type RestoreDriverDeps } from './restore-driver.ts'
import type { Restores } from './restore-request.ts'
import { restoreStore } from './restore-store.ts'
import { restoreView, summaryView } from './restore-view.ts'
import { historyStore } from './store.ts'
import type { RecordRow, RestoreRow } from './tables.ts'
import { notOpenedAlert } from './undo-alert.ts'

export type RestoresDeps = RestoreDriverDeps & {
  link: Pick<AgentLink, 'isConnected'>
  agentRecords: Pick<AgentRecords, 'byId'>
  /** Stops the agent's running runs, and waits until the agent has ended them. */
  stopRuns(agentId: string, by: SignedIn): Promise<void>
}

export type RestoreService = Restores & {
  /**
   * Undoes a run in the transaction in which it is known to have failed, if the agent's settings or `isRequested` say so. Only
   * a run with the owner's rights, because a restore brings back what only the owner may change.
   */
  undoFailed(tx: Tx, failed: FailedRun): Promise<void>
  /**
   * Fills the new, empty workspace of an agent with its latest record, or with that of a filling which has not succeeded.
   * Until it has, the agent gets no run. Ends an open restore of the former workspace. Returns the record; null without one.
   */
  fillNew(tx: Tx, agentId: string): Promise<RecordRow | null>
  /** The restore that fills a new workspace, if it is open. */
  filling(agentId: string): Promise<Restore | null>
  /** Ends the open restore: the agent has another workspace now. */
  workspaceReplaced(tx: Tx, agentId: string): Promise<void>
  /** Whether this process restores the agent's workspace now. */
  isWorking(agentId: string): boolean
  /** An agent has connected to this process. */
  connected(agentId: string): void
  loops: Loop[]
  close(): Promise<void>
}

export type FailedRun = {
  agentId: string
  executionId: string
  /** The run that found it invalid. */
  validationId?: string
  isRequested?: boolean
}

const everySeconds = 3
/** While no restore is open: this finds those of a killed process. */
const idleSeconds = 5
const maxWaitMs = 60 * 60_000
const closeMs = 5000

/** The requests for restores. A `RestoreDriver` carries them out. */
export function createRestores(deps: RestoresDeps): RestoreService {
  const { db, clock, log, link, history } = deps
  const store = restoreStore(db)
  const driver = createRestoreDriver(deps)
  const { kick, conclude, turns, optionsOf } = driver
  const stops = new Set<Promise<void>>()
  const now = () => timestamp(clock.now())
  const ageMs = (at: string) => clock.now().getTime() - Date.parse(at)

  async function requireAgent(agentId: string): Promise<void> {
    const agent = await deps.agentRecords.byId(agentId)
    if (!agent) throw new Fault('agent_not_found')
    if (agent.status !== 'running') throw new Fault('agent_stopped', `Agent ${agent.name} is not running.`)
    if (!link.isConnected(agentId))
      throw new Fault('agent_unresponsive', `Agent ${agent.name} did not answer.`)
  }

  async function stopRuns(row: RestoreRow, by: SignedIn): Promise<void> {
    try {
      await deps.stopRuns(row.agent_id, by)
    } finally {
      await store.change(row, now(), { reason: 'runs_working' })
    }
    kick(row.agent_id)
  }

  async function replaced(tx: Tx, agentId: string): Promise<void> {
    const row = await restoreStore(tx).openOf(agentId)
    if (row) await restoreStore(tx).end(row, now(), { state: 'failed', reason: 'workspace_replaced' })
  }

  async function look(): Promise<'idle' | 'busy'> {
    const open = await store.allOpen()
    for (const row of open) {
      if (row.state === 'waiting' && row.fills_new === 0 && ageMs(row.created_at) > maxWaitMs) {
        await conclude(row, { state: 'failed', reason: row.reason ?? 'agent_unresponsive' })
        link.wake(row.agent_id)
      } else kick(row.agent_id)
    }
    return open.length === 0 ? 'idle' : 'busy'
  }

  return {
    async preview(request, signal) {
      await requireAgent(request.agentId)
      const found = await turns(request.agentId, async () => {
        signal.throwIfAborted()
        if (await store.isOpen(request.agentId)) throw anotherRestore()
        const options = await optionsOf(request, randomUUID(), signal)
        return previewRestore({ link, history, clock }, options).catch(recordRemoved)
      })
      const { changes, total, ...summary } = found
      const shown = changes.map(({ path, kind, change }) => ({ ...shownPath(path), kind, change }))
      return { record: recordView(request.record), ...summaryView(summary), changes: shown, total }
    },

    async start({ agentId, record, paths }, { whenBusy, by, merge }) {
      await requireAgent(agentId)
      const { row, isBusy } = await db.atomically(async (tx) => {
        const isBusy = (await deps.lockRuns(tx, agentId)).length > 0
        if (isBusy && whenBusy === 'refuse') throw new Fault('agent_busy', 'Runs are working.')
        const on = restoreStore(tx)
        const stopping = isBusy && whenBusy === 'stop'
        const row: RestoreRow = {
          ...waitingRow(agentId, { recordId: record.id, paths, at: now() }),
          ...(merge
            ? { id: merge.restoreId, merge_base_id: merge.baseId, overwrite: merge.overwrite ? 1 : 0 }
            : {}),
          asked_by: by.user.id,
          reason: stopping ? 'stopping_runs' : isBusy ? 'runs_working' : null,
        }
        if (!(await on.insert(row))) throw anotherRestore()
        return { row, isBusy }
      })
      if (isBusy && whenBusy === 'stop') {
        const stop = stopRuns(row, by)
          .catch((error: unknown) =>
            log.warn({ err: error, agent_id: agentId }, 'runs could not be stopped for a restore'),
          )
          .finally(() => stops.delete(stop))
        stops.add(stop)
      } else kick(agentId)
      return restoreView(row)
    },

    async undoFailed(tx, { agentId, executionId, validationId = null, isRequested = false }) {
      const on = historyStore(tx)
      if (!isRequested && (await on.settings(agentId))?.undo_failed !== 1) return
      const run = await on.runOf(executionId)
      // Without the right to write, there is nothing to undo.
      if (run?.by_owner !== 1 || run.reason === 'run_may_not_write') return
      const notOpened = (reason: Parameters<typeof notOpenedAlert>[1]) =>
        deps.alerts.raise(tx, notOpenedAlert({ agentId, executionId }, reason))
      if (run.before_id === null) return notOpened('no_record')
      const isOpened = await restoreStore(tx).insert({
        ...waitingRow(agentId, { recordId: run.before_id, paths: [''], at: now() }),
        ...{ run_id: executionId, validation_id: validationId },
      })
      if (!isOpened) {
        // The agent and the schedule may both ask for it.
        const open = await restoreStore(tx).openOf(agentId)
        return open?.run_id === executionId ? undefined : notOpened('restore_open')
      }
      tx.onCommitted(() => kick(agentId))
    },

    async fillNew(tx, agentId) {
      const open = await restoreStore(tx).openOf(agentId)
      // Later records are of a workspace that was never filled.
      const record =
        open?.fills_new === 1
          ? await historyStore(tx).record(agentId, open.record_id)
          : await historyStore(tx).latest(agentId)
      if (!record) return null
      await replaced(tx, agentId)
      const runs = (await historyStore(tx).openRuns(agentId)).map(({ execution_id }) => execution_id)
      await historyStore(tx).endRuns(runs, now())
      await historyStore(tx).completeRuns(runs, { reason: 'agent_unreachable' })
      const filling = waitingRow(agentId, { recordId: record.id, paths: [''], at: now() })
      // Without it, the empty workspace would get runs.
      if (!(await restoreStore(tx).insert({ ...filling, fills_new: 1 }))) throw anotherRestore()
      return record
    },

    async filling(agentId) {
      const row = await store.openOf(agentId)
      return row?.fills_new === 1 ? restoreView(row) : null
    },

    workspaceReplaced: replaced,

    async state(agentId, restoreId) {
      const row = await store.byId(agentId, restoreId)
      return row && restoreView(row)
    },

    async list(agentId, limit) {
      return (await store.list(agentId, limit)).map(restoreView)
    },

    async cancel(agentId, restoreId) {
      const row = await store.byId(agentId, restoreId)
      if (!row) return null
      const isCancelled =
        row.state === 'waiting' && (await conclude(row, { state: 'failed', reason: 'cancelled' }))
      const current = await store.byId(agentId, restoreId)
      if (!isCancelled && current)
        throw new Fault(current.ended_at === null ? 'restore_begun' : 'already_finished')
      // Runs have waited for it.
      link.wake(agentId)
      return current && restoreView(current)
    },

    isWorking: driver.isWorking,
    connected: kick,
    loops: [{ name: 'agents.restores', everySeconds, idleSeconds, everywhere: true, run: look }],
    async close() {
      const over = new AbortController()
      // The agent completes a restore that it has begun, also after this process has ended.
      const patience = clock.wait(closeMs, over.signal)
      await Promise.race([Promise.all([driver.close(), ...stops]), patience])
      over.abort()
    },
  }
}

function waitingRow(
  agent_id: string,
  { recordId, paths, at }: { recordId: string; paths: readonly string[]; at: string },
): RestoreRow {
  return {
    ...{ id: randomUUID(), agent_id, record_id: recordId, paths: JSON.stringify(paths), asked_by: null },
    ...{
      run_id: null,
      validation_id: null,
      merge_base_id: null,
      overwrite: 0,
      fills_new: 0,
      state: 'waiting',
      reason: null,
      message: null,
    },
    ...{ added: 0, changed: 0, attributes: 0, deleted: 0, conflicts: '[]', conflict_count: 0 },
    ...{ before_id: null, after_id: null, runner: null, created_at: at, updated_at: at, ended_at: null },
  }
}

function anotherRestore(): Fault {
  return new Fault('conflict', 'Another restore of this agent is not complete.')
}

function recordRemoved(error: unknown): never {
  throw error instanceof UnknownRecord
    ? new Fault('record_not_found', undefined, {}, { cause: error })
    : error
}
