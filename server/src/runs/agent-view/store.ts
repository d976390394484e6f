import type { ExecutionStatus, Trigger } from '@roost/contracts/runs/executions'
import type { Executor } from '../../ports/database/port.ts'

/** The columns of `executions` that are read here. */
type ReadTables = {
  executions: {
    id: string
    agent_id: string
    status: ExecutionStatus
    claim_token: number | null
    created_at: string
    queue_number: number
    started_at: string | null
    completed_at: string | null
    context_used: number | null
    context_max: number | null
    kind: 'chat' | 'task'
    triggered_by: Trigger
    source_user_id: string | null
    source_agent_id: string | null
    source_mcp_key_id: string | null
  }
}

type LatestRun = Pick<
  ReadTables['executions'],
  'agent_id' | 'created_at' | 'started_at' | 'completed_at' | 'context_used' | 'context_max'
>

const final: ExecutionStatus[] = ['success', 'failed', 'cancelled']

export function agentViewStore(executor: Executor) {
  const db = executor.withTables<ReadTables>()

  async function count(agentId: string, statuses: ExecutionStatus[]): Promise<number> {
    const { total } = await db
      .selectFrom('executions')
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .where('agent_id', '=', agentId)
      .where('status', 'in', statuses)
      .executeTakeFirstOrThrow()
    return Number(total)
  }

  return {
    countRunning: (agentId: string) => count(agentId, ['running']),
    countFinished: (agentId: string) => count(agentId, final),
    /** The columns that decide who may read each of these runs. */
    async readersOf(ids: readonly string[]) {
      if (ids.length === 0) return []
      return db
        .selectFrom('executions')
        .select(['id', 'kind', 'triggered_by', 'source_user_id', 'source_mcp_key_id'])
        .where('id', 'in', [...ids])
        .execute()
    },
    /** Time of each person's last run of the agent, without the runs that the person's agents started. */
    async lastUseBy(agentId: string): Promise<{ user_id: string; at: string }[]> {
      const rows = await db
        .selectFrom('executions')
        .select(({ fn }) => ['source_user_id as user_id', fn.max('created_at').as('at')])
        .where('agent_id', '=', agentId)
        .where('source_agent_id', 'is', null)
        .groupBy('source_user_id')
        .execute()
      return rows.flatMap(({ user_id, at }) => (user_id === null ? [] : [{ user_id, at }]))
    },
    /** The agents among these that have a running run. */
    async busy(agentIds: readonly string[]): Promise<Set<string>> {
      const rows = await db
        .selectFrom('executions')
        .select('agent_id')
        .distinct()
        .where('completed_at', 'is', null)
        .where('status', '=', 'running')
        .where('agent_id', 'in', [...agentIds])
        .execute()
      return new Set(rows.map(({ agent_id }) => agent_id))
    },

    /** The start of the oldest run that each agent holds, by agent; agents without runs are omitted. */
    async runningSince(): Promise<Map<string, string>> {
      const rows = await db
        .selectFrom('executions')
        .select(({ fn }) => ['agent_id', fn.min<string>(fn.coalesce('started_at', 'created_at')).as('since')])
        .where('completed_at', 'is', null)
        .where('status', '=', 'running')
        .where('claim_token', 'is not', null)
        .groupBy('agent_id')
        .execute()
      return new Map(rows.map(({ agent_id, since }) => [agent_id, since]))
    },

    /**
     * For each agent the newest run and the newest with a context figure, which may be the same; oldest
     * first. The index `executions_figures` finds them.
     */
    async latestRuns(agentIds: readonly string[]): Promise<LatestRun[]> {
      const latest = db
        .selectFrom('executions')
        .select(({ fn }) => [
          'agent_id as of_agent',
          fn.max('created_at').as('newest'),
          fn.max('created_at').filterWhere('context_used', 'is not', null).as('newest_with_context'),
        ])
        .where('agent_id', 'in', [...agentIds])
        .groupBy('agent_id')
      return db
        .selectFrom(latest.as('latest'))
        .innerJoin('executions', (join) =>
          join
            .onRef('agent_id', '=', 'of_agent')
            .on((on) => on('created_at', 'in', [on.ref('newest'), on.ref('newest_with_context')])),
        )
        .select(['agent_id', 'created_at', 'started_at', 'completed_at', 'context_used', 'context_max'])
        .orderBy('created_at')
        .orderBy('queue_number')
        .execute()
    },
  }
}
