import {
  getAutoSync,
  getGitConfig,
  getGitFreeze,
  getGitLastChange,
  getGitLog,
  getGitStatus,
  getGitSyncState,
  getPullSync,
  getSyncHealth,
  pullGit,
  putAutoSync,
  putGitFreeze,
  putPullSync,
  syncGit,
} from '@roost/contracts/agents/git'
import { agentRoute, type Route, signedInRoute } from '../../http/route.ts'
import { isCallOnly } from '../../identity/access/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { AgentAccess } from '../access/index.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import { syncStateOf } from './rules.ts'
import type { AgentGit } from './service.ts'

export type GitRouteDeps = {
  git: AgentGit
  agentRecords: Pick<AgentRecords, 'byId'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
  clock: Pick<Clock, 'now'>
}

export function gitRoutes({ git, agentRecords, agentAccess, clock }: GitRouteDeps): Route[] {
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(agentRecords, agent.id)
  const autoSync = (name: string, row: { auto_sync: number }) => ({
    agent_name: name,
    enabled: row.auto_sync === 1,
  })
  const pullSync = (name: string, row: { pull_sync: number }) => ({
    agent_name: name,
    enabled: row.pull_sync === 1,
  })
  const freeze = (name: string, row: { freeze_schedules: number }) => {
    const enabled = row.freeze_schedules === 1
    return { agent_name: name, enabled, freeze_schedules_if_sync_failing: enabled }
  }

  return [
    signedInRoute(getSyncHealth, async ({ caller }) => {
      const rows = new Map((await git.bindings()).map((row) => [row.agent_id, row]))
      const now = clock.now()
      const agents = (await agentAccess.accessibleAgents(caller)).flatMap(({ agent }) => {
        const row = rows.get(agent.id)
        if (!row) return []
        const { state, consecutive_failures, last_sync_at, frozen } = syncStateOf(row, now)
        return [{ name: agent.name, state, consecutive_failures, last_sync_at, frozen }]
      })
      return { agents }
    }),
    agentRoute(getGitStatus, async (call) => git.status(await agentOf(call))),
    agentRoute(getGitConfig, async (call) => {
      const row = await git.config(await agentOf(call))
      const { repository, working_branch, source_branch, created_at, last_sync_at, last_commit_sha } = row
      return {
        git_enabled: true as const,
        github_repo: repository,
        working_branch,
        source_branch,
        source_mode: row.source_mode === 1,
        sync_enabled: row.source_mode === 0,
        auto_sync_enabled: row.auto_sync === 1,
        pull_sync_enabled: row.pull_sync === 1,
        freeze_schedules_if_sync_failing: row.freeze_schedules === 1,
        created_at,
        last_sync_at,
        last_commit_sha,
      }
    }),
    agentRoute(getGitSyncState, async (call) => git.syncState(await agentOf(call))),
    agentRoute(getGitLog, async (call) => git.log(await agentOf(call), call.query.limit)),
    agentRoute(getGitLastChange, async (call) => git.lastChange(await agentOf(call))),
    agentRoute(syncGit, async (call) => {
      const { message = null, paths = null, strategy } = call.body
      call.request.note({ strategy })
      const done = await git.sync(await agentOf(call), { message, paths, strategy })
      const { commit_sha, files_changed, branch, sync_time } = done
      call.request.note({ commit_sha, files_changed })
      const summary = files_changed === 0 ? 'Nothing had changed.' : `${files_changed} files were committed.`
      return { success: true as const, commit_sha, files_changed, branch, message: summary, sync_time }
    }),
    agentRoute(pullGit, async (call) => {
      // An agent with permission to call may read. `force_reset` would discard the other agent's uncommitted
      // work.
      if (isCallOnly(call.relation)) throw new Fault('agent_not_permitted', noPull)
      const { commit_sha, files_changed } = await git.pull(await agentOf(call), call.body.strategy)
      call.request.note({ strategy: call.body.strategy, commit_sha })
      const message = files_changed === 0 ? 'Nothing new.' : `${files_changed} files were changed.`
      return { success: true as const, message, commit_sha }
    }),
    agentRoute(getAutoSync, async (call) => autoSync(call.agent.name, await git.config(await agentOf(call)))),
    agentRoute(putAutoSync, async (call) =>
      autoSync(call.agent.name, await git.set(await agentOf(call), { auto_sync: call.body.enabled ? 1 : 0 })),
    ),
    agentRoute(getPullSync, async (call) => pullSync(call.agent.name, await git.config(await agentOf(call)))),
    agentRoute(putPullSync, async (call) =>
      pullSync(call.agent.name, await git.set(await agentOf(call), { pull_sync: call.body.enabled ? 1 : 0 })),
    ),
    agentRoute(getGitFreeze, async (call) => freeze(call.agent.name, await git.config(await agentOf(call)))),
    agentRoute(putGitFreeze, async (call) =>
      freeze(
        call.agent.name,
        await git.set(await agentOf(call), { freeze_schedules: call.body.enabled ? 1 : 0 }),
      ),
    ),
  ]
}

const noPull = 'An agent pulls into its own workspace only.'
