import { systemAgentName } from '@roost/contracts/agents/agent'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { type AgentRecords, agentStore, blankRow } from '../records/index.ts'

export type SystemAgentDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'changed'>
}

/** Nobody's account: only admins reach the agent, and they do so as admins. */
const owner = { owner_id: 'system', owner: 'system' }

/**
 * The platform's own agent, made once, at the first start, and stopped until an admin starts it: it has no
 * container and no key before. Of several processes that make it one wins.
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
