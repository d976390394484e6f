import {
  cancelRestore,
  getRestore,
  listRestores,
  previewRestore,
  type Restore,
  type RestorePreview,
  type RestoreTarget,
  startRestore,
} from '@roost/contracts/agents/workspace-restore'
import { agentRoute, type Route } from '../../http/route.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Change, UnknownRecord, type WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { recordPathOf } from './paths.ts'
import { keptPathsOf, storeName } from './rules.ts'
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

export function restoreRoutes({
  db,
  restores,
  history,
}: {
  db: Db
  restores: Restores
  history: Pick<WorkspaceHistory, 'changes'>
}): Route[] {
  async function requestOf(agentId: string, target: RestoreTarget): Promise<RestoreRequest> {
    const record = await requireRecord(db, agentId, target)
    const path = recordPathOf(target, true)
    const earlier = path === '' || target.side === 'after' ? null : await earlierPathOf(agentId, target, path)
    return {
      ...{ agentId, record, paths: earlier === null ? [path] : [path, earlier] },
      leftOut: keptPathsOf(record),
    }
  }

  /** The path that a file had before the run renamed it: without it, the file would end under both names. */
  async function earlierPathOf(
    agentId: string,
    { run }: RestoreTarget,
    path: string,
  ): Promise<string | null> {
    const row = run === undefined ? null : await historyStore(db).runOf(run)
    if (!row?.before_id || !row.after_id) return null
    const idOf = (record: string) => ({ agent: storeName(agentId), record })
    const changes = await history.changes(idOf(row.before_id), idOf(row.after_id)).catch(unlessUnknown)
    return changes.find((each) => each.change === 'renamed' && each.path === path)?.from ?? null
  }

  return [
    agentRoute(previewRestore, async ({ agent, body, request }) => {
      request.note({ record: body.record, run: body.run, path: body.path })
      return restores.preview(await requestOf(agent.id, body), request.signal)
    }),
    agentRoute(startRestore, async ({ agent, body, caller, request }) => {
      const { when_busy: whenBusy, ...target } = body
      request.note({ record: target.record, run: target.run, path: target.path, when_busy: whenBusy })
      return restores.start(await requestOf(agent.id, target), { whenBusy, by: caller })
    }),
    agentRoute(listRestores, async ({ agent, query }) => ({
      restores: await restores.list(agent.id, query.limit),
    })),
    agentRoute(getRestore, async ({ agent, params }) => {
      const found = await restores.state(agent.id, params.restore)
      if (!found) throw new Fault('not_found')
      return found
    }),
    agentRoute(cancelRestore, async ({ agent, params }) => {
      const cancelled = await restores.cancel(agent.id, params.restore)
      if (!cancelled) throw new Fault('not_found')
      return cancelled
    }),
  ]
}

/** Retention removed a record: the restore says so itself. */
function unlessUnknown(error: unknown): Change[] {
  if (error instanceof UnknownRecord) return []
  throw error
}

type RecordTarget = Pick<RestoreTarget, 'record' | 'run' | 'side'>

/** The record that a request names. Throws `validation_error`, `record_not_found`, `execution_not_found`. */
export async function requireRecord(
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
