import type { AgentRecords } from '../../agents/records/index.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Breakers } from '../../runs/breaker/index.ts'
import type { Alerts } from './alerts.ts'
import { operatorQueueStore } from './store.ts'

export type OutdatedDeps = {
  db: Db
  alerts: Pick<Alerts, 'clearAlert'>
  agentRecords: Pick<AgentRecords, 'byId'>
  breakers: Pick<Breakers, 'view'>
}

/**
 * Withdraws alerts of breakers that are closed again. Looked at from time to time: a breaker closes with the
 * first run that succeeds, and no run should have to ask whether somebody was alerted.
 */
export function createOutdated({ db, alerts, agentRecords, breakers }: OutdatedDeps) {
  return async function withdrawOutdated(signal: AbortSignal): Promise<void> {
    for (const { agent_id } of await operatorQueueStore(db).pendingOfKind('breaker_open')) {
      if (signal.aborted) return
      const agent = agent_id === null ? null : await agentRecords.byId(agent_id)
      if (!agent || (await breakers.view(agent)).dispatch.state !== 'closed') continue
      await db.atomically((tx) => alerts.clearAlert(tx, agent.id, 'breaker_open'))
    }
  }
}
