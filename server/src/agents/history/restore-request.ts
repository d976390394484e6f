import type { Restore, RestorePreview, RestoreTarget } from '@roost/contracts/agents/workspace-restore'
import type { SignedIn } from '../../identity/access/index.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { historyStore } from './store.ts'
import type { RecordRow } from './tables.ts'

/** `paths` are bytes as characters; the empty path means everything. */
export type RestoreRequest = {
  agentId: string
  record: RecordRow
  paths: readonly string[]
  /** Paths that the record left out, as far as it names them. */
  leftOut: readonly string[]
}

/**
 * Restores only what differs between the base and the record, and leaves what only the workspace has changed. A path that
 * both changed fails it, unless `overwrite`.
 */
export type MergeRequest = { restoreId: string; baseId: string; overwrite: boolean }

/** Restores workspaces. Sees to it that no run works meanwhile, and records the workspace before and after. */
export type Restores = {
  preview(request: RestoreRequest, signal: AbortSignal): Promise<RestorePreview>
  /** Returns as soon as it is accepted. Throws `agent_busy` with `refuse`. */
  start(
    request: RestoreRequest,
    options: { whenBusy: 'wait' | 'stop' | 'refuse'; by: SignedIn; merge?: MergeRequest },
  ): Promise<Restore>
  /** Null for an unknown one, or one of another agent. */
  state(agentId: string, restoreId: string): Promise<Restore | null>
  /** Newest first. */
  list(agentId: string, limit: number): Promise<Restore[]>
  /** Null as for `state`. Throws `restore_begun` and `already_finished`. */
  cancel(agentId: string, restoreId: string): Promise<Restore | null>
}

type RecordTarget = Pick<RestoreTarget, 'record' | 'run' | 'side'>

/** The record that a request names. Throws `validation_error`, `record_not_found`, `execution_not_found`. */
export async function requestedRecord(
  db: Db,
  agentId: string,
  { record, run, side }: RecordTarget,
): Promise<RecordRow> {
  if ((record === undefined) === (run === undefined))
    throw new Fault('validation_error', 'The body needs either "record" or "run".')
  const store = historyStore(db)
  const id = record ?? (await recordOfRun(store, agentId, { run: run ?? '', side }))
  const row = await store.record(agentId, id)
  if (!row) throw new Fault('record_not_found')
  return row
}

async function recordOfRun(
  store: ReturnType<typeof historyStore>,
  agentId: string,
  { run, side }: { run: string; side: RestoreTarget['side'] },
): Promise<string> {
  const row = await store.runOf(run)
  if (row?.agent_id !== agentId) throw new Fault('execution_not_found')
  const id = side === 'before' ? row.before_id : row.after_id
  if (id === null) throw new Fault('record_not_found', `There is no record ${side} this run.`)
  return id
}
