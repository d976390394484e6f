import type { Evaluation, EvaluationBody, EvaluationsQuery } from '@roost/contracts/operations/evaluations'
import { agentStore } from '../../agents/records/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db } from '../../ports/database/port.ts'
import { refuseForeignRun } from '../../runs/executions/index.ts'
import { type EvaluationRow, evaluationStore } from './store.ts'

export type EvaluationsDeps = { db: Db; clock: Pick<Clock, 'now'> }

type AgentRef = { id: string; name: string }

export type Evaluations = {
  /** `by` is a user name. Throws `execution_not_found`, and `agent_not_found` for a just deleted agent. */
  create(agent: AgentRef, body: EvaluationBody, by: string): Promise<Evaluation>
  list(agent: AgentRef, query: EvaluationsQuery): Promise<{ evaluations: Evaluation[]; total: number }>
}

export function createEvaluations({ db, clock }: EvaluationsDeps): Evaluations {
  const store = evaluationStore(db)
  return {
    async create(agent, body, by) {
      const at = timestamp(clock.now())
      const row = { id: newId(), agent_id: agent.id, ...body, created_by: by, created_at: at }
      await db.atomically(async (tx) => {
        if (!(await agentStore(tx).byId(agent.id))) throw new Fault('agent_not_found')
        await refuseForeignRun(tx, agent.id, body.execution_id)
        await evaluationStore(tx).insert(row)
      })
      return viewOf(row, agent)
    },

    async list(agent, query) {
      const [rows, total] = await Promise.all([store.list(agent.id, query), store.count(agent.id, query)])
      return { evaluations: rows.map((row) => viewOf(row, agent)), total }
    },
  }
}

function viewOf({ agent_id: _, ...row }: EvaluationRow, agent: AgentRef): Evaluation {
  return { ...row, agent_name: agent.name }
}
