import type { GitSyncState } from '@roost/contracts/agents/git'
import type { GitState } from '@roost/contracts/link/git'
import type { GitPatch } from './store.ts'
import type { AgentGitRow } from './tables.ts'

/** Consecutive failures after which operators are alerted and, with the flag set, schedules pause. */
export const failureThreshold = 3
export const autoSyncSeconds = 15 * 60
const staleMs = 7 * 24 * 3600_000

export function workingBranch(agent: { id: string; name: string }): string {
  const plain = agent.id.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return `roost/${agent.name}/${plain.slice(-8)}`
}

/** A timestamp for paths and refs: `20300101T000000Z-1a`. */
export function stampOf(now: Date): string {
  return `${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}-${now.getMilliseconds().toString(36)}`
}

export function isFrozen(row: Pick<AgentGitRow, 'freeze_schedules' | 'consecutive_failures'>): boolean {
  return row.freeze_schedules === 1 && row.consecutive_failures >= failureThreshold
}

export type Ended = { by: 'look' | 'sync'; error: string | null; commit: string | null }

/** The new failure streak: a successful look does not clear a failed push. */
export function afterEnd(row: AgentGitRow, { by, error, commit }: Ended, at: string): GitPatch {
  if (error !== null) {
    return {
      tried_at: at,
      last_sync_status: 'failed',
      failing: row.failing === 'sync' ? 'sync' : by,
      // While pushing fails, a failing look does not count as another failure.
      consecutive_failures:
        row.failing === 'sync' && by === 'look' ? row.consecutive_failures : row.consecutive_failures + 1,
      last_error: error.slice(0, 500),
    }
  }
  if (by === 'look' && row.failing === 'sync') return { tried_at: at }
  return {
    tried_at: at,
    last_sync_at: at,
    last_sync_status: 'success',
    failing: null,
    consecutive_failures: 0,
    last_error: null,
    ...(commit === null ? {} : { last_commit_sha: commit }),
  }
}

export function observedPatch(state: GitState, at: string): GitPatch {
  if (!state.is_repository) return {}
  return {
    ahead: state.ahead,
    behind: state.behind,
    dirty: state.changes.length > 0 ? 1 : 0,
    seen_at: at,
    ...(state.last_commit ? { last_commit_sha: state.last_commit.sha } : {}),
  }
}

export function syncStateOf(row: AgentGitRow, now: Date): GitSyncState {
  const { last_sync_at, last_sync_status, consecutive_failures, last_error, ahead, behind } = row
  return {
    last_sync_at,
    last_sync_status,
    consecutive_failures,
    last_error_summary: last_error,
    ahead,
    behind,
    ...colourOf(row, now),
    frozen: isFrozen(row),
  }
}

function colourOf(row: AgentGitRow, now: Date): Pick<GitSyncState, 'state' | 'reason'> {
  if (row.last_sync_status === 'failed') return { state: 'red', reason: 'The last sync failed.' }
  if (row.seen_at === null) return { state: 'unknown', reason: 'The workspace has not been checked yet.' }
  if (row.auto_sync === 1 && now.getTime() - Date.parse(row.last_sync_at ?? row.created_at) > staleMs) {
    return { state: 'red', reason: 'No sync has succeeded for 7 days.' }
  }
  if ((row.ahead ?? 0) > 0 && (row.behind ?? 0) > 0) {
    return { state: 'yellow', reason: 'The workspace and the remote have diverged.' }
  }
  if (row.dirty === 1) return { state: 'yellow', reason: 'Files were changed and not committed.' }
  if ((row.ahead ?? 0) > 0) return { state: 'yellow', reason: 'Commits were not pushed.' }
  if ((row.behind ?? 0) > 0) return { state: 'yellow', reason: 'The remote has newer commits.' }
  return { state: 'green', reason: 'The workspace and the remote are in sync.' }
}

/**
 * Converts a commit's date, written by git with the author's offset, to UTC. Invalid dates stay unchanged.
 */
export function inUtc<Commit extends { date: string }>(commit: Commit): Commit {
  const at = Date.parse(commit.date)
  return Number.isNaN(at) ? commit : { ...commit, date: new Date(at).toISOString() }
}
