import {
  cancelRestore,
  getRestore,
  listRestores,
  previewRestore,
  type RestoreTarget,
  startRestore,
} from '@roost/contracts/agents/workspace-restore'
import { isPlatformPath } from '@roost/contracts/link/history'
import { agentRoute, type Route } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Change, UnknownRecord, type WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { formatPath } from '../workspace/index.ts'
import { recordPathOf, textOf } from './paths.ts'
import { type RestoreRequest, type Restores, requestedRecord } from './restore-request.ts'
import { keptPathsOf, storeName } from './rules.ts'
import { historyStore } from './store.ts'

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
    const record = await requestedRecord(db, agentId, target)
    const path = recordPathOf(target, true)
    if (isPlatformPath(path))
      throw new Fault('protected_path', `Records never have "${formatPath(textOf(path))}".`)
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
