import type { EvaluationsQuery } from '@roost/contracts/operations/evaluations'
import type { Executor } from '../../ports/database/port.ts'

export type EvaluationRow = {
  id: string
  agent_id: string
  /** 0 to 100. */
  score: number
  verdict: string | null
  notes: string | null
  execution_id: string | null
  /** A user name. */
  created_by: string
  created_at: string
}

type EvaluationTables = { agent_evaluations: EvaluationRow }

/** The only SQL about evaluations. */
export function evaluationStore(executor: Executor) {
  const db = executor.withTables<EvaluationTables>()

  const matching = (agentId: string, executionId: string | undefined) => {
    const query = db.selectFrom('agent_evaluations').where('agent_id', '=', agentId)
    return executionId === undefined ? query : query.where('execution_id', '=', executionId)
  }

  return {
    async insert(row: EvaluationRow): Promise<void> {
      await db.insertInto('agent_evaluations').values(row).execute()
    },

    async list(agentId: string, { execution_id, limit, offset }: EvaluationsQuery): Promise<EvaluationRow[]> {
      return matching(agentId, execution_id)
        .selectAll()
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(limit)
        .offset(offset)
        .execute()
    },

    async count(agentId: string, { execution_id }: EvaluationsQuery): Promise<number> {
      const row = await matching(agentId, execution_id)
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },
  }
}
