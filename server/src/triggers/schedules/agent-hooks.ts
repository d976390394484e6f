import { CreateSchedule } from '@roost/contracts/triggers/schedules'
import type { AgentHooks } from '../../agents/management/index.ts'
import { timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import { columnsOf, type Deleted, times } from './change.ts'
import { scheduleStore } from './store.ts'

/** What an agent's template declares begins with it, and its schedules end with it. They follow a rename as they are. */
export function registerAgentHooks(
  hooks: Pick<AgentHooks, 'onCreated' | 'onDeleting'>,
  deleted: Deleted,
): void {
  hooks.onCreated(async (tx, { agent, ownerId, schedules, now }) => {
    const store = scheduleStore(tx)
    for (const { cron, ...entry } of schedules) {
      // The rest takes the defaults of a request.
      const fields = CreateSchedule.parse({ ...entry, cron_expression: cron })
      await store.insert({
        ...columnsOf(fields),
        id: newId(),
        agent_id: agent.id,
        model: null,
        deliver_to_workspace_email: null,
        created_by: agent.owner,
        created_by_id: ownerId,
        ...times(timestamp(now)),
      })
    }
    return { schedules_created: schedules.length }
  })

  hooks.onDeleting(async (tx, { agent, now }) => {
    const store = scheduleStore(tx)
    // One that is being made now is waited for, and one that comes later finds no agent.
    await store.lockChanges()
    for (const { id } of await store.ofAgent(agent.id)) {
      const gone = await store.remove(id, timestamp(now))
      if (gone) await deleted(tx, gone, now)
    }
  })
}
