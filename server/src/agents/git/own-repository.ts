import type { BoundToOwnRepository, InitializedGit } from '@roost/contracts/agents/git-repository'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Db } from '../../ports/database/port.ts'
import { type GitHost, GitHostDown, type HostedRepository } from '../../ports/git-host/port.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import type { Ask } from './ask.ts'
import { type Binding, branchesOf, endedOf, requireDone } from './binding.ts'
import type { Settle } from './record.ts'
import { workingBranch } from './rules.ts'
import { gitStore } from './store.ts'
import { type AgentGitRow, blankBinding } from './tables.ts'
import type { AgentGitTokens } from './tokens.ts'

export type OwnRepositoryDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  host: GitHost
  tokens: AgentGitTokens
  agentRecords: Pick<AgentRecords, 'changed'>
  addressOf(repository: string): string
  binding: Pick<Binding, 'transferTo'>
  ask: Ask
  settle: Settle
  /** Throws `agent_busy` while a run or sync uses the workspace, and blocks others meanwhile. */
  whileIdle<T>(agent: Agent, work: () => Promise<T>): Promise<T>
}

export type RepositoryRequest = {
  repository: string
  mayCreate: boolean
  isPrivate: boolean
  description: string | null
}
type Own = HostedRepository & { isNew: boolean }

/** Gives an agent its own repository, new or existing, for its workspace. */
export function createOwnRepository(deps: OwnRepositoryDeps) {
  const { db, clock, host, tokens, agentRecords, addressOf, binding, ask, settle, whileIdle } = deps

  /** Throws `not_configured`, `not_found`, `upstream_error`, or a validation error that names the field. */
  async function findOrCreate(request: RepositoryRequest, token: Secret, field: string): Promise<Own> {
    const { repository } = request
    const found = await host.find(repository, token)
    if (found?.mayPush) return { ...found, isNew: false }
    if (found) throw invalidField([field], 'the token may not write to this repository')
    if (!request.mayCreate)
      throw new Fault('not_found', `The git host has no repository "${repository}" for this token.`)
    const result = await host.create(request, token)
    if (result.ok) return { ...result.repository, isNew: true }
    const reason =
      result.why === 'taken' ? 'exists, but the token has no access' : 'cannot be created with this token'
    throw invalidField([field], reason)
  }

  async function hosted(agent: Agent, request: RepositoryRequest, field: string): Promise<Own> {
    const token = await tokens.of(agent)
    if (token === null) throw new Fault('not_configured', 'There is no token for the git host.')
    return findOrCreate(request, token, field).catch((cause: unknown) => {
      if (!(cause instanceof GitHostDown)) throw cause
      throw new Fault('upstream_error', 'The git host cannot be reached.', {}, { cause })
    })
  }

  /** Prepares the workspace before the database changes, so a failure keeps the old binding. */
  async function switchTo(agent: Agent, repository: string, own: Own): Promise<AgentGitRow> {
    const at = timestamp(clock.now())
    const row: AgentGitRow = {
      ...((await gitStore(db).of(agent.id)) ?? blankBinding),
      ...unobserved,
      agent_id: agent.id,
      repository,
      working_branch: workingBranch(agent),
      source_branch: own.defaultBranch,
      source_mode: 0,
      created_at: at,
      bound_at: at,
    }
    const { end, state } = await ask(agent, 'git.initialize', {
      branches: branchesOf(row),
      transfer: binding.transferTo(row),
      remote_url: addressOf(repository),
      message: `The workspace of ${agent.name}`,
    })
    requireDone(end)
    await db.atomically(async (tx) => {
      const patch = { github_repo: repository, source_branch: own.defaultBranch }
      if (!(await agentStore(tx).update(agent.id, patch))) throw new Fault('agent_not_found')
      await gitStore(tx).replace(row)
      agentRecords.changed(tx, agent.id)
    })
    await settle(agent, { ended: endedOf('sync', end), state })
    return row
  }

  return {
    /** Throws `already_exists` for an agent that has a repository. */
    async initialize(agent: Agent, request: RepositoryRequest): Promise<InitializedGit> {
      const before = await gitStore(db).of(agent.id)
      if (before) throw new Fault('already_exists', `Agent ${agent.name} is bound to ${before.repository}.`)
      requireRunning(agent)
      return whileIdle(agent, async () => {
        const own = await hosted(agent, request, 'repo_name')
        const { repository, working_branch } = await switchTo(agent, request.repository, own)
        return {
          success: true,
          message: own.isNew ? 'The repository was created.' : 'The workspace has joined the repository.',
          github_repo: repository,
          working_branch,
          repo_url: addressOf(repository),
        }
      })
    },

    /** On success `pat` becomes the agent's own token. */
    async bindToOwn(
      agent: Agent,
      request: RepositoryRequest,
      pat: string | null,
    ): Promise<BoundToOwnRepository> {
      requireRunning(agent)
      return whileIdle(agent, async () => {
        const before = await gitStore(db).of(agent.id)
        if (pat !== null) await tokens.check(pat, 'github_pat')
        const putBack = pat === null ? null : await tokens.swap(agent.id, pat)
        try {
          const own = await hosted(agent, request, 'destination_repo')
          const { repository } = await switchTo(agent, request.repository, own)
          return {
            agent_name: agent.name,
            github_repo: repository,
            previous_repo: before?.repository ?? null,
            default_branch: own.defaultBranch,
            private: own.isPrivate,
            created_repo: own.isNew,
            reused_existing: !own.isNew,
            repo_url: addressOf(repository),
            message: `Agent ${agent.name} is bound to ${repository}.`,
          }
        } catch (error) {
          await putBack?.()
          throw error
        }
      })
    },
  }
}

function requireRunning({ name, status }: Agent): void {
  if (status !== 'running') throw new Fault('agent_stopped', `Agent ${name} is not running.`)
}

/** Observations of the previous repository do not apply to the new one. */
const unobserved = {
  last_sync_at: null,
  last_sync_status: 'never',
  failing: null,
  last_error: null,
  last_commit_sha: null,
  ahead: null,
  behind: null,
  dirty: null,
  seen_at: null,
  tried_at: null,
  auto_synced_at: null,
  change_direction: null,
  change_from_sha: null,
  change_to_sha: null,
  change_at: null,
} as const satisfies Partial<AgentGitRow>
