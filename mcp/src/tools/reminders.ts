import {
  cancelReminder,
  createReminder,
  listReminders,
  Reminder,
  reminderStatuses,
} from '@roost/contracts/triggers/reminders'
import { z } from 'zod'
import { asQuery, bodyOf, described, pathOf, queryOf, request } from '../requests.ts'
import { type Call, type Tool, tool } from '../tool.ts'
import { idempotent, reasons, words } from './parameters.ts'

/** The agent that makes the call; tools for agents run for agents only. */
export function selfOf({ key }: Pick<Call, 'key'>): string {
  return key.agent_name ?? ''
}

const ofSelf = { leftOut: { '{name}': reasons.self } }

export const reminderTools: Tool[] = [
  tool({
    name: 'set_reminder',
    description:
      'Wake yourself once, at a time between a minute and 30 days ahead: you get the message as a new run. Use it to look at something again later instead of waiting. Give either fire_at or delay_seconds.',
    audience: 'agent',
    effect: 'write',
    requests: [request(createReminder, ofSelf)],
    input: described(bodyOf(createReminder), {
      message: 'The message of that run; you remember nothing else of now.',
      fire_at: 'ISO 8601 time; either this or delay_seconds.',
      delay_seconds: 'Seconds from now; either this or fire_at.',
      model: words.model,
      allowed_tools: words.allowed_tools,
    }),
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
    description: 'Your reminders, soonest first; pending ones unless a status is given.',
    audience: 'agent',
    effect: 'read',
    requests: [request(listReminders, { ...ofSelf, differs: { status: reasons.values } })],
    input: {
      status: z.enum([...reminderStatuses, 'all']).optional(),
      limit: queryOf(listReminders).limit.describe(words.limit),
    },
    async run(call, query) {
      const params = { name: selfOf(call) }
      const reminders = await call.api.call(listReminders, { params, query: asQuery(query) })
      return { reminders, count: reminders.length }
    },
  }),
  tool({
    name: 'cancel_reminder',
    description: 'Cancel one of your pending reminders.',
    audience: 'agent',
    effect: 'destroy',
    hides: true,
    requests: [request(cancelReminder, { ...ofSelf, as: { '{id}': 'reminder_id' } })],
    input: { reminder_id: pathOf(cancelReminder).id.describe('The id of the reminder.') },
    run: (call, { reminder_id }) =>
      call.api.call(cancelReminder, { params: { name: selfOf(call), id: reminder_id } }),
  }),
]
