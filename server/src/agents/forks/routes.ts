import { type ForkAgent, forkAgent } from '@roost/contracts/agents/forks'
import { agentRoute, answer, type Route } from '../../http/route.ts'
import type { Db } from '../../ports/database/port.ts'
import { requestedRecord } from '../history/index.ts'
import { createOnce, type OnceDeps } from '../management/index.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import type { ForkRequest } from './request.ts'
import type { Forks } from './service.ts'

export function forkRoutes({
  db,
  forks,
  agentRecords,
  idempotency,
}: OnceDeps & { db: Db; forks: Forks; agentRecords: Pick<AgentRecords, 'byId'> }): Route[] {
  const once = createOnce({ agentRecords, idempotency })

  async function requestOf(agentId: string, body: ForkAgent): Promise<ForkRequest> {
    const { record, run, side, ...request } = body
    if (record === undefined && run === undefined) return { ...request, from: { type: 'now' } }
    const { id } = await requestedRecord(db, agentId, { record, run, side })
    return { ...request, from: { type: 'record', id } }
  }

  return [
    agentRoute(forkAgent, async ({ agent, caller, body, request }) => {
      const { name, record, run, with_schedules, with_credentials } = body
      request.note({ fork: name, record, run, with_schedules, with_credentials })
      const source = await requireAgent(agentRecords, agent.id)
      const { body: created, replayed } = await once(
        caller,
        request.header('idempotency-key'),
        async (claim) => forks.fork(caller, source, await requestOf(agent.id, body), claim),
      )
      return answer(created, { headers: replayed ? { 'x-idempotent-replay': 'true' } : {} })
    }),
  ]
}
