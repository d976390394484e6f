import type { CreateSchedule } from '@roost/contracts/triggers/schedules'
import type { Agent } from '../../agents/records/index.ts'
import { accountPrincipal } from '../../identity/access/index.ts'
import { timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import { modelOf } from '../../runs/dispatch/index.ts'
import { columnsOf, newTimes } from './change.ts'
import { checkCap, checkTimes } from './rules.ts'
import { scheduleStore } from './store.ts'

export type Restore = {
  /** Throws what the creation of such schedules throws, for an agent with this cap. */
  checkRestored(capSeconds: number, all: readonly CreateSchedule[]): void
  /**
   * Adds checked schedules to a new agent, in the transaction that makes it visible, and returns their ids. Nobody
   * receives their output.
   */
  restore(
    tx: Tx,
    agent: Pick<Agent, 'id'>,
    by: { id: string; username: string },
    all: readonly CreateSchedule[],
    now: Date,
  ): Promise<string[]>
}

/** The schedules of an agent that comes from an archive. */
export const restore: Restore = {
  checkRestored(capSeconds, all) {
    for (const fields of all) {
      checkTimes(fields)
      checkCap(fields.timeout_seconds, capSeconds)
      modelOf(fields.model)
    }
  },

  async restore(tx, agent, by, all, now) {
    const store = scheduleStore(tx)
    const ids = all.map(() => newId())
    for (const [index, fields] of all.entries()) {
      await store.insert({
        ...columnsOf(fields),
        id: ids[index] ?? newId(),
        agent_id: agent.id,
        model: modelOf(fields.model),
        deliver_to_workspace_email: null,
        created_by: by.username,
        created_by_id: by.id,
        principal: accountPrincipal(by.id),
        validation_principal: null,
        ...newTimes(timestamp(now)),
      })
    }
    return ids
  },
}
