import type { GitStatus, GitSyncState } from '@roost/contracts/agents/git'
import type { ResetToMain } from '@roost/contracts/agents/git-repository'
import type { PullStrategy, SyncStrategy } from '@roost/contracts/link/git'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { GitHost } from '../../ports/git-host/port.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import { createAsk } from './ask.ts'
import { type BindingDeps, branchesOf, createBinding, endedOf, requireDone } from './binding.ts'
import { createFrozen } from './frozen.ts'
import { changePatch, createLastChange, type LastChangeDeps } from './last-change.ts'
import { createOwnRepository } from './own-repository.ts'
import { createSettle, type RecordDeps } from './record.ts'
import { inUtc, stampOf, syncStateOf } from './rules.ts'
import { type GitPatch, gitStore } from './store.ts'
import type { AgentGitTokens } from './tokens.ts'

export type GitDeps = Omit<RecordDeps, 'frozen' | 'clock'> &
  Pick<BindingDeps, 'transfers' | 'addressOf'> &
  Pick<LastChangeDeps, 'secretsOf'> & {
    db: Db
    clock: Clock
    link: Pick<AgentLink, 'call' | 'isConnected'>
    agentRecords: Pick<AgentRecords, 'changed'>
    host: GitHost
    tokens: AgentGitTokens
    /** Whether a run of the agent is in progress. */
    isWorking(agentId: string): Promise<boolean>
  }

export type SyncRequest = { message: string | null; paths: string[] | null; strategy: SyncStrategy }

/** The repositories of agents. */
export type AgentGit = ReturnType<typeof createAgentGit>

export function createAgentGit(deps: GitDeps) {
  const { db, clock, link, addressOf, isWorking } = deps
  /** Agents whose workspace this process is syncing. The agent's program also serializes its work. */
  const busy = new Set<string>()
  const frozen = createFrozen(deps)
  const ask = createAsk(link)
  const settle = createSettle({ ...deps, frozen })
  const binding = createBinding({ ...deps, ask, settle, isBusy: (agentId) => busy.has(agentId) })
  const own = createOwnRepository({ ...deps, binding, ask, settle, whileIdle })
  const { rowOf, transferTo, boundRow } = binding

  async function exclusively<T>(agent: Agent, work: () => Promise<T>): Promise<T> {
    if (busy.has(agent.id)) throw new Fault('sync_in_progress')
    busy.add(agent.id)
    try {
      return await work()
    } finally {
      busy.delete(agent.id)
    }
  }

  /** Requires an idle agent: a run must not lose files while it works. */
  async function whileIdle<T>(agent: Agent, work: () => Promise<T>): Promise<T> {
    if (busy.has(agent.id) || (await isWorking(agent.id))) {
      throw new Fault(
        'agent_busy',
        `Agent ${agent.name} is working. Wait until its runs have finished, or stop them.`,
      )
    }
    return exclusively(agent, work)
  }

  return {
    lastChange: createLastChange({ ...deps, ask, rowOf }),
    look: binding.look,
    bindNew: binding.bindNew,
    settingsFor: binding.settingsFor,
    initialize: own.initialize,
    bindToOwn: own.bindToOwn,
    config: rowOf,
    bindings: () => gitStore(db).all(),
    syncState: async (agent: Agent): Promise<GitSyncState> => syncStateOf(await rowOf(agent), clock.now()),
    /** Failed syncs of an agent with paused schedules; null if they may fire. */
    frozenAfter: frozen.after,

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
      await settle(agent, { ended: null, state })
      const { branch, last_commit, changes, ahead, behind } = state
      const inStep = changes.length === 0 && (ahead ?? 0) === 0 && (behind ?? 0) === 0
      return {
        ...unknown,
        ...{ branch, changes, ahead, behind },
        last_commit: last_commit && inUtc(last_commit),
        remote_url: state.remote_url,
        sync_status: ahead === null ? 'unknown' : inStep ? 'up_to_date' : 'pending_sync',
      }
    },

    async log(agent: Agent, limit: number) {
      await rowOf(agent)
      const { commits } = await ask(agent, 'git.log', { limit })
      return {
        commits: commits.map((commit) => ({ ...inUtc(commit), short_sha: commit.sha.slice(0, 7) })),
      }
    },

    /** Throws `conflict` in source mode, `git_conflict`, `upstream_error`, `sync_in_progress`. */
    async sync(agent: Agent, { message, paths, strategy }: SyncRequest) {
      const row = await boundRow(agent)
      if (row.source_mode === 1) {
        throw new Fault(
          'conflict',
          'The agent is in source mode: it can only pull, because no token may push.',
        )
      }
      const { end, state } = await exclusively(agent, () =>
        ask(agent, 'git.sync', {
          branches: branchesOf(row),
          transfer: transferTo(row),
          message: message ?? `Sync of ${agent.name}`,
          paths,
          strategy,
        }),
      )
      const at = timestamp(clock.now())
      const more = { auto_synced_at: at, ...changePatch('push', end, at) }
      await settle(agent, { ended: endedOf('sync', end), state, more })
      const done = requireDone(end)
      return { ...done, branch: row.working_branch, sync_time: at }
    },

    async pull(agent: Agent, strategy: PullStrategy) {
      const row = await boundRow(agent)
      const { end, state } = await exclusively(agent, () =>
        ask(agent, 'git.pull', { branches: branchesOf(row), transfer: transferTo(row), strategy }),
      )
      const more = changePatch('pull', end, timestamp(clock.now()))
      await settle(agent, { ended: endedOf('sync', end), state, more })
      return requireDone(end)
    },

    /** Throws `agent_busy`, `upstream_error`. */
    async reset(agent: Agent): Promise<ResetToMain> {
      const row = await boundRow(agent)
      return whileIdle(agent, async () => {
        const { end, state, snapshot_dir, files_preserved } = await ask(agent, 'git.reset', {
          branches: branchesOf(row),
          transfer: transferTo(row),
          stamp: stampOf(clock.now()),
        })
        await settle(agent, { ended: endedOf('sync', end), state })
        const { commit_sha } = requireDone(end)
        return {
          success: true,
          snapshot_dir,
          commit_sha,
          files_preserved,
          working_branch: row.working_branch,
        }
      })
    },

    async set(agent: Agent, patch: Pick<GitPatch, 'auto_sync' | 'pull_sync' | 'freeze_schedules'>) {
      await rowOf(agent)
      await gitStore(db).update(agent.id, patch)
      frozen.forget()
      return rowOf(agent)
    },

    /** The new token may have other permissions; the next look checks them. */
    async tokenChanged(agentId: string): Promise<void> {
      await gitStore(db).update(agentId, { bound_at: null })
    },
  }
}
