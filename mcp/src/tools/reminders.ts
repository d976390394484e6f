import { cancelReminder, createReminder, listReminders, Reminder } from '@roost/contracts/triggers/reminders'
import { z } from 'zod'
import { type Call, type Tool, tool } from '../tool.ts'
import { allowedTools, idempotent, model } from './parameters.ts'

/** The agent that calls; tools for agents are run for agents only. */
export function selfOf({ key }: Pick<Call, 'key'>): string {
  return key.agent_name ?? ''
}

export const reminderTools: Tool[] = [
  tool({
    name: 'set_reminder',
    description:
      'Wake yourself once, at a time from a minute to 30 days ahead: you are given the message as a new run. Use it to look again at something later instead of waiting.',
    audience: 'agent',
    effect: 'write',
    input: {
      message: z
        .string()
        .min(1)
        .max(4000)
        .describe('What you tell yourself then; you remember nothing else of now.'),
      fire_at: z.string().optional().describe('ISO 8601 time; either this or delay_seconds.'),
      delay_seconds: z.number().int().min(60).max(2_592_000).optional(),
      model,
      timeout_seconds: z.number().int().min(10).optional(),
      allowed_tools: allowedTools,
    },
    output: Reminder,
    // No key of the call itself: without one the API recognises a reminder by its message and time.
    run: (call, body) =>
      call.api.call(createReminder, {
        params: { name: selfOf(call) },
        body,
        headers: idempotent({ ...call, retryKey: null }),
      }),
  }),
  tool({
    name: 'list_reminders',
    description: 'Your reminders, the soonest first; pending ones when no status is given.',
    audience: 'agent',
    effect: 'read',
    input: {
      status: z.enum(['pending', 'firing', 'fired', 'cancelled', 'failed', 'all']).optional(),
    },
    async run(call, { status }) {
      const reminders = await call.api.call(listReminders, {
        params: { name: selfOf(call) },
        query: { status },
      })
      return { reminders, count: reminders.length }
    },
  }),
  tool({
    name: 'cancel_reminder',
    description: 'Cancel one of your reminders that has not fired.',
    audience: 'agent',
    effect: 'destroy',
    hides: true,
    input: { reminder_id: z.string().min(1) },
    run: (call, { reminder_id }) =>
      call.api.call(cancelReminder, { params: { name: selfOf(call), id: reminder_id } }),
  }),
]
