import type {
  ExecutionDetails,
  ExecutionSummary,
  RunningExecutions,
  Terminated,
  ToolCall,
} from '@roost/contracts/runs/executions'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Relation, SignedIn } from '../../identity/access/caller.ts'
import type { RunOf } from '../../identity/run-keys/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'
import { type ExecutionToolsTable, type Live, transcriptStore } from '../transcripts/index.ts'
import { describePrincipal } from './describe-principal.ts'
import type { RunHooks } from './hooks.ts'
import { logText, storedLines } from './log.ts'
import { queueStore } from './queue-store.ts'
import {
  detailsOf,
  errorFilter,
  isFinal,
  isParked,
  logRemovedAt,
  mayRead,
  maySee,
  messagePreview,
  seesOwnRunsOnly,
  statusFilter,
  summaryOf,
  triggerFilter,
} from './rules.ts'
import { createSettle, type Settle } from './settle.ts'
import { type ExecutionFilter, type ExecutionRow, executionStore } from './store.ts'
import { createTerminate, nameOf } from './terminate.ts'
import { createUntilEnd, createWatch, type UntilEnd, type Watch } from './watch.ts'

export type ExecutionsDeps = {
  db: Db
  clock: Clock
  events: Pick<Outbox, 'append' | 'signal'>
  link: Pick<AgentLink, 'call'>
  live: Live
  hooks: RunHooks
  keepaliveSeconds: number
  /** The address or user name of an account; null for a deleted one. */
  accountName(userId: string): Promise<string | null>
}

/** The caller, and the agent that it was admitted to. */
export type Reader = { caller: SignedIn; agentId: string; relation: Relation }
/** The caller who reads one run; `agentId` null means a run of any agent. */
export type RunReader = Omit<Reader, 'agentId'> & { agentId: string | null }
export type ListQuery = {
  limit: number
  offset: number
  status?: string
  triggered_by?: string
  error?: string
  of_schedules?: boolean
  include?: 'validations'
}

export type Executions = {
  /** Newest first, with the total number of matches. Throws `unknown_filter`. */
  list(reader: Reader, query: ListQuery): Promise<{ rows: ExecutionSummary[]; total: number }>
  running(reader: Reader): Promise<RunningExecutions>
  /**
   * `details`, `log` and `terminate` throw `execution_not_found` for unknown ids and runs of other agents.
   */
  details(reader: RunReader, id: string): Promise<ExecutionDetails>
  /** Streams the text of an `ExecutionLog`. Throws when `signal` aborts. */
  log(reader: RunReader, id: string, signal: AbortSignal): Promise<AsyncIterable<string>>
  terminate(reader: Reader, id: string): Promise<Terminated>
  /** Locks the agent's queue, so that no run starts until the transaction ends. Returns the ids of running ones. */
  lockRuns(tx: Tx, agentId: string): Promise<string[]>
  /** Stops the agent's running runs because of a restore, and waits until the agent has ended them. */
  stopRuns(agentId: string, by: SignedIn): Promise<void>
  /** Returns the row if this reader may see it. Throws `execution_not_found`. */
  find(reader: RunReader, id: string): Promise<ExecutionRow>
  /** The run if it is running; of a conversation, its running turn. */
  runningOf(run: RunOf): Promise<Pick<ExecutionRow, 'id' | 'principal'> | null>
  watch: Watch
  untilEnd: UntilEnd
  settle: Settle['settle']
  /** The running or first queued run of each session. */
  inFlight(executor: Executor, sessionIds: readonly string[]): Promise<Map<string, string>>
  toolCalls(executor: Executor, executionId: string): Promise<ToolCall[]>
  /** The newest tool calls of an agent, for its activity view. */
  recentTools(agentId: string, limit: number): Promise<ExecutionToolsTable[]>
  /** Hook of agent management: old runs get the new name. */
  agentRenamed(tx: Tx, agentId: string, name: string): Promise<void>
}

export function createExecutions(deps: ExecutionsDeps): Executions {
  const { db } = deps
  const store = executionStore(db)
  const { settle } = createSettle(deps)
  const watch = createWatch(deps)
  const terminate = createTerminate({ db, link: deps.link, settle })

  async function find({ caller, agentId, relation }: RunReader, id: string): Promise<ExecutionRow> {
    const row = await store.byId(id)
    const isOfAgent = agentId === null || row?.agent_id === agentId
    if (!row || !isOfAgent || !maySee(caller, relation, row)) throw new Fault('execution_not_found')
    return row
  }

  return {
    find,
    runningOf: store.runningOf,
    watch,
    untilEnd: createUntilEnd(deps),
    settle,
    async list(reader, query) {
      const { rows, total } = await store.page(filterOf(reader, query), query)
      return { rows: rows.map((row) => summaryOf(row, reader.caller)), total }
    },
    async running(reader) {
      const rows = await store.running(reader.agentId)
      return {
        executions: rows
          .filter((row) => maySee(reader.caller, reader.relation, row))
          .map((row) => ({
            execution_id: row.id,
            started_at: row.started_at,
            status: 'running' as const,
            parked: isParked(row),
            metadata: {
              type: row.kind,
              triggered_by: row.triggered_by,
              message_preview: mayRead(reader.caller, row) ? messagePreview(row.message) : null,
            },
          })),
      }
    },
    async details(reader, id) {
      const row = await find(reader, id)
      const [tools, principal] = await Promise.all([
        transcriptStore(db).toolCalls(id),
        describePrincipal(row, deps.accountName),
      ])
      return detailsOf(row, { tools, principal, caller: reader.caller })
    },
    async log(reader, id, signal) {
      const row = await find(reader, id)
      const isShown = mayRead(reader.caller, row)
      const log_removed_at = logRemovedAt(row)
      const isStored = row.last_line > 0 && log_removed_at === null
      const head = {
        execution_id: row.id,
        agent_name: row.agent_name,
        has_log: isStored,
        log_removed_at,
        status: row.status,
        started_at: row.started_at,
        completed_at: row.completed_at,
        message: isShown ? row.message : null,
        ...(isShown ? {} : { redacted: true }),
      }
      return logText(head, 'log', isShown && isStored ? storedLines(db, id, row.last_line) : [], signal)
    },
    async terminate(reader, id) {
      const row = await find(reader, id)
      if (isFinal(row.status)) return { status: 'already_finished', execution_id: id }
      return terminate(id, reader.caller)
    },
    async lockRuns(tx, agentId) {
      const queue = queueStore(tx)
      await queue.lockQueue(agentId)
      return queue.runningIds(agentId)
    },
    async stopRuns(agentId, by) {
      const ids = await queueStore(db).runningIds(agentId)
      const error = `Stopped by ${nameOf(by)} to restore the workspace.`
      await Promise.all(ids.map((id) => terminate(id, by, error)))
    },
    inFlight: (executor, sessionIds) => executionStore(executor).inFlight(sessionIds),
    toolCalls: (executor, executionId) => transcriptStore(executor).toolCalls(executionId),
    recentTools: (agentId, limit) => transcriptStore(db).recentTools(agentId, limit),
    agentRenamed: (tx, agentId, name) => executionStore(tx).rename(agentId, name),
  }
}

function filterOf({ caller, agentId, relation }: Reader, query: ListQuery): ExecutionFilter {
  return {
    agentId,
    status: statusFilter(query.status),
    triggeredBy: triggerFilter(query.triggered_by),
    error: errorFilter(query.error),
    ofSchedules: query.of_schedules ?? false,
    // A caller who filters by this trigger asks for validations too.
    withValidations: query.include === 'validations' || query.triggered_by === 'validation',
    keyId: seesOwnRunsOnly(caller, relation) && caller.kind === 'key' ? caller.key.id : undefined,
  }
}

/**
 * Checks that a run named together with an agent belongs to it; null passes. Throws `execution_not_found`.
 */
export async function refuseForeignRun(
  executor: Executor,
  agentId: string,
  executionId: string | null,
): Promise<void> {
  if (executionId === null) return
  const row = await executionStore(executor).byId(executionId)
  if (row?.agent_id !== agentId) throw new Fault('execution_not_found')
}
