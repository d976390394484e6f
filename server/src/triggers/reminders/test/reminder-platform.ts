import { CreateReminder, type Reminder } from '@roost/contracts/triggers/reminders'
import type { SignedIn } from '../../../identity/access/index.ts'
import { silentLog } from '../../../ports/log.ts'
import { type AgentsPlatform, startAgentsPlatform } from '../../../test/agents-platform.ts'
import { person, type RunPlatformOptions } from '../../../test/run-platform.ts'
import { createReminders, type DeliverResult, type Reminders } from '../index.ts'

/** A platform process with reminders; two processes share only the database. */
export type ReminderPlatform = AgentsPlatform & { reminders: Reminders }

const never = new AbortController().signal
export const agent = { id: 'a1', name: 'scout' }
export const owner = person({ id: 'u-owner' })

export async function startReminderPlatform(
  options: RunPlatformOptions & {
    /** Created from the platform; without it no conversation exists. */
    deliver?: (platform: AgentsPlatform) => DeliverResult
  },
  agents?: Parameters<typeof startAgentsPlatform>[1],
): Promise<ReminderPlatform> {
  const platform = await startAgentsPlatform(options, agents)
  const deliver = options.deliver?.(platform) ?? (async () => 'gone' as const)
  return { ...platform, reminders: createReminders({ ...platform, log: silentLog, deliver }) }
}

type SetBy = { key?: string; caller?: SignedIn; agent?: { id: string; name: string } }

/** Sets a reminder like a request; in 60 seconds by default. */
export async function set(
  { reminders }: ReminderPlatform,
  over: Record<string, unknown> = {},
  { key, caller = owner, agent: reminded = agent }: SetBy = {},
): Promise<Reminder & { replayed: boolean }> {
  const request = CreateReminder.parse({ message: 'look', delay_seconds: 60, ...over })
  const reply = await reminders.set({ caller, agent: reminded }, request, key)
  // The reply has the shape of the endpoint.
  return { ...(reply.body as Reminder), replayed: reply.replayed }
}

/** Runs one pass of the background loops. */
export async function pass({ reminders }: ReminderPlatform): Promise<void> {
  for (const loop of reminders.loops) await loop.run(never)
  await reminders.settled()
}
