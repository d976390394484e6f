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
  /** Its workspace is being worked on by this process. */
  isBusy(agentId: string): boolean
}

/** What a container is told of its repository. */
export type GitFacts = { sourceMode: boolean; workingBranch: string }

/** Bindings: which repository an agent has, and that its workspace is one. */
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

  // A host that does not answer now is asked again later.
  const mayPush = (agentId: string, repository: string) =>
    transfers.mayPush(agentId, repository).catch(() => null)

  /** Makes the workspace a repository; a failure counts, and is tried again with the next look. */
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

    /** One look at workspace and remote, as every 60 s. */
    async look(agent: Agent): Promise<void> {
      const row = await gitStore(db).of(agent.id)
      if (!row || agent.status !== 'running' || !link.isConnected(agent.id) || isBusy(agent.id)) return
      if (row.bound_at === null) return bind(agent, row)
      const { state, failed } = await ask(agent, 'git.look', {
        branches: branchesOf(row),
        transfer: transferTo(row),
      })
      // Somebody has removed it: the next look makes it anew.
      const more = state.is_repository ? {} : { bound_at: null }
      await settle(agent, { ended: { by: 'look', error: failed, commit: null }, state, more })
    },

    /** With a repository in the workspace, if that can be had now. */
    async boundRow(agent: Agent): Promise<AgentGitRow> {
      const row = await rowOf(agent)
      if (row.bound_at === null && agent.status === 'running') await bind(agent, row)
      return rowOf(agent)
    },

    /** In the transaction that makes an agent from a repository. */
    async bindNew(tx: Tx, agent: Agent): Promise<void> {
      if (agent.github_repo === null || agent.source_branch === null) return
      await gitStore(tx).insert({
        ...blankBinding,
        agent_id: agent.id,
        repository: agent.github_repo,
        working_branch: workingBranch(agent),
        source_branch: agent.source_branch,
        // Until the host was asked what the token may do.
        source_mode: 1,
        created_at: timestamp(clock.now()),
      })
    },

    /** For a container that is made now. Null: the agent has no repository. */
    async factsFor(agent: Pick<Agent, 'id' | 'name' | 'github_repo'>): Promise<GitFacts | null> {
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

/** Null: nothing was tried. */
export function endedOf(by: Ended['by'], end: GitEnd): Ended | null {
  if (end.outcome === 'refused') return null
  if (end.outcome === 'done') return { by, error: null, commit: end.commit_sha }
  return { by, error: end.message, commit: null }
}

/** Throws what a caller is told of an end that is none. */
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
