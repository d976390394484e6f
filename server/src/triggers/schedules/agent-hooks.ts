import type { RegistryHooks } from '../../agents/registry/index.ts'
import { timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Deleted } from './change.ts'
import { times } from './change.ts'
import { scheduleStore } from './store.ts'

/** What an agent's template declares begins with it, and its schedules end with it. They follow a rename as they are. */
export function registerAgentHooks(
  hooks: Pick<RegistryHooks, 'onCreated' | 'onDeleting'>,
  deleted: Deleted,
): void {
  hooks.onCreated(async (tx, { agent, ownerId, schedules, now }) => {
    const store = scheduleStore(tx)
    for (const { cron, enabled, ...entry } of schedules) {
      await store.insert({
        ...entry,
        id: newId(),
        agent_id: agent.id,
        cron_expression: cron,
        enabled: enabled ? 1 : 0,
        misfire_policy: 'run_once',
        timeout_seconds: null,
        allowed_tools: null,
        model: null,
        deliver_to_workspace_email: null,
        max_retries: 0,
        retry_delay_seconds: 60,
        validation_enabled: 0,
        validation_prompt: null,
        validation_timeout_seconds: 120,
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
    await store.standInLine()
    for (const { id } of await store.ofAgent(agent.id)) {
      const gone = await store.remove(id, timestamp(now))
      if (gone) await deleted(tx, gone, now)
    }
  })
}
