import { systemAgentName } from '@roost/contracts/agents/agent'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { type AgentRecords, agentStore, blankRow } from '../records/index.ts'

export type SystemAgentDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'changed'>
}

/** Not a real account: only admins can access the agent. */
const owner = { owner_id: 'system', owner: 'system' }

/**
 * Creates the platform's own agent at the first start. It stays stopped, without container or key, until an
 * admin starts it. Of concurrent processes, one inserts it.
 */
export async function ensureSystemAgent({ db, clock, agentRecords }: SystemAgentDeps): Promise<void> {
  await db.atomically(async (tx) => {
    const row = {
      ...blankRow(systemAgentName, timestamp(clock.now())),
      ...owner,
      type: 'system',
      state: 'ready' as const,
      desired: 'stopped' as const,
      is_system: 1,
    }
    if (await agentStore(tx).insert(row)) agentRecords.changed(tx, row.id)
  })
}
