import { parseRunQuery } from '@roost/contracts/runs/run-query'
import type { RunView } from '@roost/contracts/runs/run-views'
import type { SignedIn } from '../../identity/access/caller.ts'

/** Times are ISO 8601 in UTC. */
export type RunViewRow = {
  id: string
  user_id: string
  name: string
  query: string
  is_shared: number
  created_at: string
  updated_at: string
}

/** The role `user` is for people outside the team: agents are only shared with them. */
export function takesPartInSharing({ user }: Pick<SignedIn, 'user'>): boolean {
  return user.role !== 'user'
}

export function isOwn({ user }: Pick<SignedIn, 'user'>, row: Pick<RunViewRow, 'user_id'>): boolean {
  return row.user_id === user.id
}

/** Whether the caller may read the view. `reaches`: whether it can access the agent of this name. */
export function maySeeView(
  caller: Pick<SignedIn, 'user'>,
  row: Pick<RunViewRow, 'user_id' | 'is_shared' | 'query'>,
  reaches: (agent: string) => boolean,
): boolean {
  if (isOwn(caller, row)) return true
  if (row.is_shared === 0 || !takesPartInSharing(caller)) return false
  const agent = parseRunQuery(row.query).query?.agent
  return agent === undefined || reaches(agent)
}

export function mayChangeView(caller: Pick<SignedIn, 'user'>, row: Pick<RunViewRow, 'user_id'>): boolean {
  return isOwn(caller, row) || caller.user.role === 'admin'
}

export function viewOf(row: RunViewRow, caller: Pick<SignedIn, 'user'>): RunView {
  const { id, name, query, is_shared, created_at, updated_at } = row
  return {
    ...{ id, name, query },
    shared: is_shared === 1,
    is_own: isOwn(caller, row),
    may_change: mayChangeView(caller, row),
    ...{ created_at, updated_at },
  }
}
