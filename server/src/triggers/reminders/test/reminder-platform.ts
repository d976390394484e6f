import { CreateReminder, type Reminder } from '@roost/contracts/triggers/reminders'
import type { SignedIn } from '../../../identity/access/index.ts'
import { silentLog } from '../../../ports/log.ts'
import { type AgentsPlatform, startAgentsPlatform } from '../../../test/agents-platform.ts'
import { person, type RunPlatformOptions } from '../../../test/run-platform.ts'
import { createReminders, type DeliverResult, type Reminders } from '../index.ts'

/** One process of the platform with reminders; two of them on one database share nothing else. */
export type ReminderPlatform = AgentsPlatform & { reminders: Reminders }

const never = new AbortController().signal
export const agent = { id: 'a1', name: 'scout' }
export const owner = person({ id: 'u-owner' })

export async function startReminderPlatform(
  options: RunPlatformOptions & {
    /** Made from the platform, as it is composed; without it every conversation is gone. */
    deliver?: (platform: AgentsPlatform) => DeliverResult
  },
): Promise<ReminderPlatform> {
  const platform = await startAgentsPlatform(options)
  const deliver = options.deliver?.(platform) ?? (async () => 'gone' as const)
  return { ...platform, reminders: createReminders({ ...platform, log: silentLog, deliver }) }
}

/** Sets one as a request would; in 60 seconds, where nothing else is said. */
export async function set(
  { reminders }: ReminderPlatform,
  over: Record<string, unknown> = {},
  { key, caller = owner }: { key?: string; caller?: SignedIn } = {},
): Promise<Reminder & { replayed: boolean }> {
  const asked = CreateReminder.parse({ message: 'look', delay_seconds: 60, ...over })
  const reply = await reminders.set({ caller, agent }, asked, key)
  // The reply's shape is the endpoint's.
  return { ...(reply.body as Reminder), replayed: reply.replayed }
}

/** What the background loops do. */
export async function pass({ reminders }: ReminderPlatform): Promise<void> {
  for (const loop of reminders.loops) await loop.run(never)
  await reminders.settled()
}
