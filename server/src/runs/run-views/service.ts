import {
  type CreateRunView,
  maxRunViews,
  type RunView,
  type UpdateRunView,
} from '@roost/contracts/runs/run-views'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db } from '../../ports/database/port.ts'
import { mayChangeView, maySeeView, type RunViewRow, takesPartInSharing, viewOf } from './rules.ts'
import { runViewStore } from './store.ts'

export type RunViews = {
  /** Own views by name, then those that others share. */
  list(caller: SignedIn): Promise<RunView[]>
  /** Throws `role_required`, `already_exists` for a name in use, `conflict` at the limit. */
  create(caller: SignedIn, view: CreateRunView): Promise<RunView>
  /** Throws `not_found` for a view that the caller may not see, `role_required`, `already_exists`. */
  update(caller: SignedIn, id: string, change: UpdateRunView): Promise<RunView>
  /** Throws `not_found`, `role_required`. */
  remove(caller: SignedIn, id: string): Promise<void>
}

export type RunViewsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
}

export function createRunViews({ db, clock, agentAccess }: RunViewsDeps): RunViews {
  const store = runViewStore(db)

  async function visible(caller: SignedIn, rows: readonly RunViewRow[]): Promise<RunViewRow[]> {
    if (rows.length === 0) return []
    const agents = await agentAccess.accessibleAgents(caller)
    const names = new Set(agents.map(({ agent }) => agent.name))
    return rows.filter((row) => maySeeView(caller, row, (name) => names.has(name)))
  }

  async function changeable(caller: SignedIn, id: string): Promise<RunViewRow> {
    const row = await store.byId(id)
    const [seen] = row ? await visible(caller, [row]) : []
    if (!seen) throw new Fault('not_found', 'There is no such view.')
    if (!mayChangeView(caller, seen))
      throw new Fault('role_required', 'Only the owner of a view or an admin may change it.')
    return seen
  }

  function refuseSharing(caller: SignedIn): void {
    if (!takesPartInSharing(caller))
      throw new Fault('role_required', 'Sharing a view needs the role operator or higher.')
  }

  return {
    async list(caller) {
      const own = await store.ownedBy(caller.user.id)
      const shared = takesPartInSharing(caller) ? await store.sharedByOthers(caller.user.id) : []
      return [...own, ...(await visible(caller, shared))].map((row) => viewOf(row, caller))
    },

    async create(caller, { name, query, shared }) {
      if (shared) refuseSharing(caller)
      const at = timestamp(clock.now())
      const row: RunViewRow = {
        id: newId(),
        user_id: caller.user.id,
        ...{ name, query },
        is_shared: shared ? 1 : 0,
        ...{ created_at: at, updated_at: at },
      }
      await db.atomically(async (tx) => {
        const views = runViewStore(tx)
        if ((await views.count(row.user_id)) >= maxRunViews)
          throw new Fault('conflict', `You have reached the limit of ${maxRunViews} saved views.`)
        if (!(await views.insert(row))) throw nameTaken(name)
      })
      return viewOf(row, caller)
    },

    async update(caller, id, { name, query, shared }) {
      const row = await changeable(caller, id)
      if (shared) refuseSharing(caller)
      const next: RunViewRow = {
        ...row,
        name: name ?? row.name,
        query: query ?? row.query,
        is_shared: shared === undefined ? row.is_shared : shared ? 1 : 0,
        updated_at: timestamp(clock.now()),
      }
      if (!(await store.update(next))) throw nameTaken(next.name)
      return viewOf(next, caller)
    },

    async remove(caller, id) {
      await store.remove((await changeable(caller, id)).id)
    },
  }
}

function nameTaken(name: string): Fault {
  return new Fault('already_exists', `You already have a view named “${name}”.`)
}
