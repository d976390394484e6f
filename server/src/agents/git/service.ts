import type { GitStatus, GitSyncState } from '@roost/contracts/agents/git'
import {
  type GitBranches,
  type GitEnd,
  type GitState,
  gitCallSeconds,
  type PullStrategy,
  type SyncStrategy,
} from '@roost/contracts/link/git'
import type { AlertKind, PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import {
  type AgentLink,
  LinkDown,
  LinkTimeout,
  type PlatformCallName,
  type PlatformRequest,
} from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Agent } from '../directory/index.ts'
import { credentialAlert, failingAlert } from './alerts.ts'
import {
  afterEnd,
  type Ended,
  failuresThatCount,
  isFrozen,
  seenPatch,
  syncStateOf,
  workingBranch,
} from './rules.ts'
import { type GitPatch, gitStore } from './store.ts'
import type { AgentGitRow } from './tables.ts'
import type { Transfers } from './transfer.ts'

export type GitDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  events: Pick<Outbox, 'append'>
  transfers: Pick<Transfers, 'open' | 'mayPush'>
  addressOf(repository: string): string
  raiseAlert(tx: Tx, alert: PlatformAlert): Promise<void>
  clearAlert(tx: Tx, agentId: string, kind: AlertKind): Promise<void>
}

export type SyncRequest = { message: string | null; paths: string[] | null; strategy: SyncStrategy }

/** The repositories of agents. */
export type AgentGit = ReturnType<typeof createAgentGit>

export function createAgentGit(deps: GitDeps) {
  const { db, clock, link, events, transfers, addressOf, raiseAlert, clearAlert } = deps
  /** Agents whose workspace is being synced by this process; the agent's program lets one in at a time anyway. */
  const busy = new Set<string>()

  async function rowOf(agent: Pick<Agent, 'id'>): Promise<AgentGitRow> {
    const row = await gitStore(db).of(agent.id)
    if (!row) throw new Fault('git_not_configured')
    return row
  }

  async function ask<T extends Extract<PlatformCallName, `git.${string}`>>(
    agent: Pick<Agent, 'id' | 'name' | 'status'>,
    t: T,
    request: PlatformRequest<T>,
  ) {
    if (agent.status !== 'running') throw new Fault('agent_stopped', `Agent ${agent.name} is not running.`)
    try {
      return await link.call(agent.id, t, request, { timeoutSeconds: gitCallSeconds })
    } catch (error) {
      if (!(error instanceof LinkDown || error instanceof LinkTimeout)) throw error
      throw new Fault('agent_unresponsive', `Agent ${agent.name} did not answer.`, {}, { cause: error })
    }
  }

  const transferTo = (row: AgentGitRow) =>
    transfers.open({ agentId: row.agent_id, repository: row.repository, mayPush: row.source_mode === 0 })

  /** Writes down how it ended, and tells operators and clients of a change. */
  async function settle(agent: Agent, ended: Ended | null, state: GitState | null, more: GitPatch = {}) {
    await db.atomically(async (tx) => {
      const store = gitStore(tx)
      const before = await store.of(agent.id)
      if (!before) return
      const now = clock.now()
      const at = timestamp(now)
      const patch = {
        ...(state ? seenPatch(state, at) : {}),
        ...(ended ? afterEnd(before, ended, at) : {}),
        ...more,
      }
      if (Object.keys(patch).length === 0) return
      await store.update(agent.id, patch)
      const row = { ...before, ...patch }
      await tell(tx, agent, before, row, now)
      if (state?.has_credential) await raiseAlert(tx, credentialAlert(agent))
      else if (state?.is_repository) await clearAlert(tx, agent.id, 'remote_credential')
    })
  }

  async function tell(tx: Tx, agent: Agent, before: AgentGitRow, row: AgentGitRow, now: Date) {
    if (row.consecutive_failures >= failuresThatCount) {
      if (row.consecutive_failures > before.consecutive_failures)
        await raiseAlert(tx, failingAlert(agent, row))
    } else if (before.consecutive_failures >= failuresThatCount) {
      await clearAlert(tx, agent.id, 'sync_failing')
    }
    const [was, is] = [syncStateOf(before, now), syncStateOf(row, now)]
    if (was.state === is.state && was.consecutive_failures === is.consecutive_failures) return
    const { state, last_sync_status, consecutive_failures } = is
    const fields = { state, last_sync_status, consecutive_failures }
    const named = { agent_names: [agent.name], agent_ids: [agent.id] }
    await events.append(tx, { type: 'git.sync_changed', ...named, fields }, now)
  }

  /** Makes the workspace a repository; a failure counts, and is tried again with the next look. */
  async function bind(agent: Agent, row: AgentGitRow): Promise<void> {
    // A host that does not answer now is asked again with the next look.
    const canPush = await transfers.mayPush(agent.id, row.repository).catch(() => null)
    if (canPush === null)
      return settle(agent, { by: 'look', error: 'The git host cannot be reached.', commit: null }, null)
    const bound = { ...row, source_mode: canPush ? 0 : 1 }
    const { end, state } = await ask(agent, 'git.bind', {
      branches: branchesOf(bound),
      transfer: transferTo(bound),
      remote_url: addressOf(row.repository),
      commit: agent.template_commit,
    })
    const at = timestamp(clock.now())
    const more = end.outcome === 'done' ? { source_mode: bound.source_mode, bound_at: at } : {}
    await settle(agent, endedOf('look', end), state, more)
  }

  /** One look at workspace and remote, as every 60 s. */
  async function look(agent: Agent): Promise<void> {
    const row = await gitStore(db).of(agent.id)
    if (!row || agent.status !== 'running' || !link.isConnected(agent.id) || busy.has(agent.id)) return
    if (row.bound_at === null) return bind(agent, row)
    const { state, failed } = await ask(agent, 'git.look', {
      branches: branchesOf(row),
      transfer: transferTo(row),
    })
    // Somebody has removed it: the next look makes it anew.
    const more = state.is_repository ? {} : { bound_at: null }
    await settle(agent, { by: 'look', error: failed, commit: null }, state, more)
  }

  async function alone<T>(agent: Agent, work: () => Promise<T>): Promise<T> {
    if (busy.has(agent.id)) throw new Fault('sync_in_progress')
    busy.add(agent.id)
    try {
      return await work()
    } finally {
      busy.delete(agent.id)
    }
  }

  async function boundRow(agent: Agent): Promise<AgentGitRow> {
    const row = await rowOf(agent)
    if (row.bound_at === null && agent.status === 'running') await bind(agent, row)
    return rowOf(agent)
  }

  return {
    look,

    /** In the transaction that makes an agent from a repository. */
    async bindNew(tx: Tx, agent: Agent): Promise<void> {
      if (agent.github_repo === null || agent.source_branch === null) return
      await gitStore(tx).insert({
        ...blank,
        agent_id: agent.id,
        repository: agent.github_repo,
        working_branch: workingBranch(agent),
        source_branch: agent.source_branch,
        // Until the host was asked what the token may do.
        source_mode: 1,
        created_at: timestamp(clock.now()),
      })
    },

    config: rowOf,
    bindings: () => gitStore(db).all(),
    syncState: async (agent: Agent): Promise<GitSyncState> => syncStateOf(await rowOf(agent), clock.now()),

    async status(agent: Agent): Promise<GitStatus> {
      const row = await gitStore(db).of(agent.id)
      if (!row) return { git_enabled: false, message: `Agent ${agent.name} is bound to no repository.` }
      const unknown = {
        git_enabled: true,
        agent_running: agent.status === 'running',
        branch: null,
        remote_url: addressOf(row.repository),
        last_commit: null,
        changes: [],
        ahead: row.ahead,
        behind: row.behind,
        sync_status: 'unknown' as const,
      }
      if (agent.status !== 'running') return unknown
      const { state } = await ask(agent, 'git.look', { branches: branchesOf(row), transfer: null })
      if (!state.is_repository) return unknown
      await settle(agent, null, state)
      const { branch, last_commit, changes, ahead, behind } = state
      const inStep = changes.length === 0 && (ahead ?? 0) === 0 && (behind ?? 0) === 0
      return {
        ...unknown,
        ...{ branch, last_commit, changes, ahead, behind },
        remote_url: state.remote_url,
        sync_status: ahead === null ? 'unknown' : inStep ? 'up_to_date' : 'pending_sync',
      }
    },

    async log(agent: Agent, limit: number) {
      await rowOf(agent)
      const { commits } = await ask(agent, 'git.log', { limit })
      return { commits: commits.map((commit) => ({ ...commit, short_sha: commit.sha.slice(0, 7) })) }
    },

    /** Throws `conflict` in source mode, `git_conflict`, `upstream_error`, `sync_in_progress`. */
    async sync(agent: Agent, { message, paths, strategy }: SyncRequest) {
      const row = await boundRow(agent)
      if (row.source_mode === 1) {
        throw new Fault(
          'conflict',
          'The agent is in source mode: there is no token that may write, and it only pulls.',
        )
      }
      const { end, state } = await alone(agent, () =>
        ask(agent, 'git.sync', {
          branches: branchesOf(row),
          transfer: transferTo(row),
          message: message ?? `Sync of ${agent.name}`,
          paths,
          strategy,
        }),
      )
      await settle(agent, endedOf('sync', end), state, { auto_synced_at: timestamp(clock.now()) })
      const done = requireDone(end)
      return { ...done, branch: row.working_branch, sync_time: timestamp(clock.now()) }
    },

    async pull(agent: Agent, strategy: PullStrategy) {
      const row = await boundRow(agent)
      const { end, state } = await alone(agent, () =>
        ask(agent, 'git.pull', { branches: branchesOf(row), transfer: transferTo(row), strategy }),
      )
      await settle(agent, endedOf('sync', end), state)
      return requireDone(end)
    },

    async set(agent: Agent, patch: Pick<GitPatch, 'auto_sync' | 'pull_sync' | 'freeze_schedules'>) {
      await rowOf(agent)
      await gitStore(db).update(agent.id, patch)
      return rowOf(agent)
    },

    /** Failed syncs of an agent whose schedules they freeze; null: they may fire. */
    async frozenAfter(agentId: string): Promise<number | null> {
      const row = await gitStore(db).of(agentId)
      return row && isFrozen(row) ? row.consecutive_failures : null
    },
  }
}

const blank = {
  auto_sync: 0,
  pull_sync: 0,
  freeze_schedules: 0,
  bound_at: null,
  last_sync_at: null,
  last_sync_status: 'never',
  failing: null,
  consecutive_failures: 0,
  last_error: null,
  last_commit_sha: null,
  ahead: null,
  behind: null,
  dirty: null,
  seen_at: null,
  tried_at: null,
  auto_synced_at: null,
} as const

function branchesOf({ working_branch, source_branch, source_mode }: AgentGitRow): GitBranches {
  return { working: working_branch, source: source_branch, source_mode: source_mode === 1 }
}

/** Null: nothing was tried. */
function endedOf(by: Ended['by'], end: GitEnd): Ended | null {
  if (end.outcome === 'refused') return null
  if (end.outcome === 'done') return { by, error: null, commit: end.commit_sha }
  return { by, error: end.message, commit: null }
}

function requireDone(end: GitEnd): Extract<GitEnd, { outcome: 'done' }> {
  if (end.outcome === 'done') return end
  if (end.outcome === 'refused') throw new Fault('validation_error', `paths: ${end.message}`)
  if (end.outcome === 'failed') throw new Fault('upstream_error', end.message)
  const isLocal = end.conflict === 'uncommitted_changes' || end.conflict === 'stash_conflict'
  throw new Fault('git_conflict', end.message, {
    conflict_type: end.conflict,
    conflict_class: isLocal ? 'local_changes' : 'diverged_history',
  })
}
