import type { GitBranches, GitEnd, GitTransfer } from '@roost/contracts/link/git'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Agent } from '../records/index.ts'
import type { Ask } from './ask.ts'
import type { Settle } from './record.ts'
import { type Ended, workingBranch } from './rules.ts'
import { gitStore } from './store.ts'
import { type AgentGitRow, blankBinding } from './tables.ts'
import type { Transfers } from './transfer.ts'

export type BindingDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  link: Pick<AgentLink, 'isConnected'>
  transfers: Pick<Transfers, 'open' | 'mayPush'>
  addressOf(repository: string): string
  ask: Ask
  settle: Settle
  /** Whether this process is working on the agent's workspace. */
  isBusy(agentId: string): boolean
}

/** Repository settings for a new container. */
export type GitSettings = { sourceMode: boolean; workingBranch: string }

/** Binds agents to repositories and initializes their workspaces. */
export function createBinding(deps: BindingDeps) {
  const { db, clock, link, transfers, addressOf, ask, settle, isBusy } = deps

  /** Throws `git_not_configured`. */
  async function rowOf(agent: Pick<Agent, 'id'>): Promise<AgentGitRow> {
    const row = await gitStore(db).of(agent.id)
    if (!row) throw new Fault('git_not_configured')
    return row
  }

  const transferTo = (row: AgentGitRow): GitTransfer =>
    transfers.open({ agentId: row.agent_id, repository: row.repository, mayPush: row.source_mode === 0 })

  // Null if the host does not answer; retried later.
  const mayPush = (agentId: string, repository: string) =>
    transfers.mayPush(agentId, repository).catch(() => null)

  /** Makes the workspace a repository. A failure counts and is retried at the next look. */
  async function bind(agent: Agent, row: AgentGitRow): Promise<void> {
    const canPush = await mayPush(agent.id, row.repository)
    if (canPush === null) {
      const ended = { by: 'look', error: 'The git host cannot be reached.', commit: null } as const
      return settle(agent, { ended, state: null })
    }
    const bound = { ...row, source_mode: canPush ? 0 : 1 }
    const { end, state } = await ask(agent, 'git.bind', {
      branches: branchesOf(bound),
      transfer: transferTo(bound),
      remote_url: addressOf(row.repository),
      commit: agent.template_commit,
    })
    const bound_at = timestamp(clock.now())
    const more = end.outcome === 'done' ? { source_mode: bound.source_mode, bound_at } : {}
    await settle(agent, { ended: endedOf('look', end), state, more })
  }

  return {
    rowOf,
    transferTo,

    /** Checks workspace and remote once, as the loop does every 60 s. */
    async look(agent: Agent): Promise<void> {
      const row = await gitStore(db).of(agent.id)
      if (!row || agent.status !== 'running' || !link.isConnected(agent.id) || isBusy(agent.id)) return
      if (row.bound_at === null) return bind(agent, row)
      const { state, failed } = await ask(agent, 'git.look', {
        branches: branchesOf(row),
        transfer: transferTo(row),
      })
      // The repository was deleted from the workspace; the next look recreates it.
      const more = state.is_repository ? {} : { bound_at: null }
      await settle(agent, { ended: { by: 'look', error: failed, commit: null }, state, more })
    },

    /** The binding, after initializing the repository if that is possible now. */
    async boundRow(agent: Agent): Promise<AgentGitRow> {
      const row = await rowOf(agent)
      if (row.bound_at === null && agent.status === 'running') await bind(agent, row)
      return rowOf(agent)
    },

    /** In the transaction that creates an agent from a repository. */
    async bindNew(tx: Tx, agent: Agent): Promise<void> {
      if (agent.github_repo === null || agent.source_branch === null) return
      await gitStore(tx).insert({
        ...blankBinding,
        agent_id: agent.id,
        repository: agent.github_repo,
        working_branch: workingBranch(agent),
        source_branch: agent.source_branch,
        // Until the host has reported the token's permissions.
        source_mode: 1,
        created_at: timestamp(clock.now()),
      })
    },

    /** For a new container; null without a repository. */
    async settingsFor(agent: Pick<Agent, 'id' | 'name' | 'github_repo'>): Promise<GitSettings | null> {
      const row = await gitStore(db).of(agent.id)
      if (row?.bound_at) return { sourceMode: row.source_mode === 1, workingBranch: row.working_branch }
      if (agent.github_repo === null) return null
      const canPush = await mayPush(agent.id, agent.github_repo)
      return { sourceMode: canPush !== true, workingBranch: row?.working_branch ?? workingBranch(agent) }
    },
  }
}

export type Binding = ReturnType<typeof createBinding>

export function branchesOf({
  working_branch,
  source_branch,
  source_mode,
}: Pick<AgentGitRow, 'working_branch' | 'source_branch' | 'source_mode'>): GitBranches {
  return { working: working_branch, source: source_branch, source_mode: source_mode === 1 }
}

/** Null: nothing was attempted. */
export function endedOf(by: Ended['by'], end: GitEnd): Ended | null {
  if (end.outcome === 'refused') return null
  if (end.outcome === 'done') return { by, error: null, commit: end.commit_sha }
  return { by, error: end.message, commit: null }
}

/** Throws the fault for any outcome other than `done`. */
export function requireDone(end: GitEnd): Extract<GitEnd, { outcome: 'done' }> {
  if (end.outcome === 'done') return end
  if (end.outcome === 'refused') throw new Fault('validation_error', `paths: ${end.message}`)
  if (end.outcome === 'failed') throw new Fault('upstream_error', end.message)
  const isLocal = end.conflict === 'uncommitted_changes' || end.conflict === 'stash_conflict'
  throw new Fault('git_conflict', end.message, {
    conflict_type: end.conflict,
    conflict_class: isLocal ? 'local_changes' : 'diverged_history',
  })
}
