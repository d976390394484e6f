import type { ContextUse, RunActivity } from '../../agents/health/index.ts'
import type { Slots } from '../../agents/settings/index.ts'
import type { Caller } from '../../identity/access/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Executions, mayRead, messagePreview, queueStore } from '../executions/index.ts'
import { agentViewStore } from './store.ts'

export type AgentView = {
  /** Runs that hold a slot, oldest first, and the number of queued runs. */
  slotsOf(agentId: string, caller: Caller): Promise<Slots>
  /** The newest tool calls, newest first. */
  activityOf(agentId: string, caller: Caller): Promise<RunActivity>
  /** Context use of each agent as its runs last reported it; agents without runs are omitted. */
  contextOf(agentIds: readonly string[]): Promise<ReadonlyMap<string, ContextUse>>
  /** Number of the agent's finished runs. */
  finishedExecutions(agentId: string): Promise<number>
  /** Time of each person's last run of the agent, by user id. */
  lastUseBy(agentId: string): Promise<ReadonlyMap<string, string>>
  /** ISO time of the start of the oldest run that each agent holds, by agent id; idle agents are omitted. */
  runningSince(): Promise<ReadonlyMap<string, string>>
}

const toolsShown = 100

function reads(caller: Caller, run: Parameters<typeof mayRead>[1]): boolean {
  return caller.kind !== 'anonymous' && mayRead(caller, run)
}

export function createAgentView(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  executions: Pick<Executions, 'recentTools'>
}): AgentView {
  const { db, clock, executions } = deps
  const store = agentViewStore(db)
  return {
    async slotsOf(agentId, caller) {
      // One snapshot: a claimed run is either queued or running, never both.
      const { running, queued } = await db.snapshot(async (on) => {
        const queue = queueStore(on)
        return { running: await queue.runningOf(agentId), queued: await queue.countWaiting(agentId) }
      })
      const now = clock.now().getTime()
      return {
        active: running.map((row) => ({
          execution_id: row.id,
          started_at: row.started_at ?? row.created_at,
          message_preview: reads(caller, row) ? messagePreview(row.message) : '',
          duration_seconds: Math.max(
            0,
            Math.round((now - Date.parse(row.started_at ?? row.created_at)) / 1000),
          ),
        })),
        queued,
      }
    },
    async activityOf(agentId, caller) {
      const [running, tools] = await Promise.all([
        store.countRunning(agentId),
        executions.recentTools(agentId, toolsShown),
      ])
      const runs = await store.readersOf([...new Set(tools.map((tool) => tool.execution_id))])
      const readable = new Set(runs.filter((run) => reads(caller, run)).map((run) => run.id))
      return {
        busy: running > 0,
        timeline: tools.map((tool) => ({
          id: tool.tool_use_id,
          tool: tool.tool,
          ...(readable.has(tool.execution_id)
            ? { input_summary: tool.input_summary, output_summary: tool.output_summary }
            : { input_summary: '', output_summary: null }),
          duration_ms: tool.duration_ms,
          started_at: tool.started_at,
          ended_at: tool.ended_at,
          success: tool.success === null ? null : tool.success === 1,
          status: tool.ended_at === null ? ('running' as const) : ('completed' as const),
        })),
      }
    },
    async contextOf(agentIds) {
      if (agentIds.length === 0) return new Map()
      const [rows, busy] = await Promise.all([store.latestRuns(agentIds), store.busy(agentIds)])
      const uses = new Map<string, ContextUse>()
      for (const row of rows) {
        const measured = row.context_used === null ? uses.get(row.agent_id) : row
        uses.set(row.agent_id, {
          busy: busy.has(row.agent_id),
          context_used: measured?.context_used ?? 0,
          context_max: measured?.context_max ?? 0,
          last_activity_at: row.completed_at ?? row.started_at ?? row.created_at,
        })
      }
      return uses
    },
    runningSince: () => store.runningSince(),
    finishedExecutions: (agentId) => store.countFinished(agentId),
    lastUseBy: async (agentId) =>
      new Map((await store.lastUseBy(agentId)).map(({ user_id, at }) => [user_id, at])),
  }
}
