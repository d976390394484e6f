import type { ExecutionStatus, Trigger } from '@roost/contracts/runs/executions'
import type { Executor } from '../../ports/database/port.ts'

/** The columns of `executions` that are read here. */
type ReadTables = {
  executions: {
    id: string
    agent_id: string
    status: ExecutionStatus
    created_at: string
    started_at: string | null
    completed_at: string | null
    context_used: number | null
    context_max: number | null
    triggered_by: Trigger
    source_user_id: string | null
    source_mcp_key_id: string | null
  }
}

type LatestRun = Omit<ReadTables['executions'], 'triggered_by' | 'source_user_id' | 'source_mcp_key_id'>

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
    /** What decides who may read each of these runs. */
    async readersOf(ids: readonly string[]) {
      if (ids.length === 0) return []
      return db
        .selectFrom('executions')
        .select(['id', 'triggered_by', 'source_user_id', 'source_mcp_key_id'])
        .where('id', 'in', [...ids])
        .execute()
    },
    /** The run of each agent that started last. */
    async latestRuns(agentIds: readonly string[]): Promise<LatestRun[]> {
      return db
        .selectFrom('executions')
        .select([
          'id',
          'agent_id',
          'status',
          'created_at',
          'started_at',
          'completed_at',
          'context_used',
          'context_max',
        ])
        .where('agent_id', 'in', [...agentIds])
        .where(({ eb, ref, not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('executions as newer')
                .select('newer.id')
                .whereRef('newer.agent_id', '=', ref('executions.agent_id'))
                .where((inner) =>
                  inner.or([
                    inner('newer.created_at', '>', eb.ref('executions.created_at')),
                    inner.and([
                      inner('newer.created_at', '=', eb.ref('executions.created_at')),
                      inner('newer.id', '>', eb.ref('executions.id')),
                    ]),
                  ]),
                ),
            ),
          ),
        )
        .execute()
    },
  }
}
