import type { Loop } from '../../background/loops.ts'
import type { Clock } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import { createTurns } from '../../kit/turns.ts'
import type { Log } from '../../ports/log.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import { autoSyncSeconds } from './rules.ts'
import type { AgentGit } from './service.ts'
import type { AgentGitRow } from './tables.ts'

export type GitLoopDeps = {
  git: AgentGit
  agentRecords: Pick<AgentRecords, 'byId'>
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'debug' | 'warn'>
}

const everySeconds = 60
const maxConcurrentAgents = 4

/** Looks at every running agent with a binding, and syncs or pulls as its settings say. */
export function createGitLoop({ git, agentRecords, clock, log }: GitLoopDeps): Loop {
  const limit = createTurns(maxConcurrentAgents)

  async function process(agent: Agent, before: AgentGitRow): Promise<void> {
    await git.look(agent)
    const row = await git.config(agent)
    if (row.pull_sync === 1 && (row.behind ?? 0) > 0 && row.failing === null) await git.pull(agent, 'clean')
    const dueMs = Date.parse(before.auto_synced_at ?? before.created_at) + autoSyncSeconds * 1000
    if (
      row.auto_sync === 1 &&
      row.source_mode === 0 &&
      row.bound_at !== null &&
      clock.now().getTime() >= dueMs
    ) {
      await git.sync(agent, { message: null, paths: null, strategy: 'normal' })
    }
  }

  async function pass(): Promise<void> {
    const rows = await git.bindings()
    await Promise.all(
      rows.map((row) =>
        limit(async () => {
          const agent = await agentRecords.byId(row.agent_id)
          if (agent?.state !== 'ready' || agent.status !== 'running') return
          await process(agent, row).catch((error: unknown) => {
            // Git's errors are already recorded, and an agent that does not answer is not a git failure.
            const isExpected = isFault(
              error,
              'git_conflict',
              'upstream_error',
              'agent_unresponsive',
              'sync_in_progress',
            )
            log[isExpected ? 'debug' : 'warn'](
              { err: error, agent: agent.name },
              'could not process a repository',
            )
          })
        }),
      ),
    )
  }

  return { name: 'agents.git', everySeconds, run: pass }
}
