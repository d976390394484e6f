import type { Client } from '@roost/contracts/client'
import { listReminders } from '@roost/contracts/triggers/reminders'
import { queryOptions } from '@tanstack/react-query'
import { ofAgent, staleOn } from '../../live/stale.ts'

export const reminderKeys = {
  ofAgent: (name: string) => ['agent', name, 'reminders'] as const,
}

staleOn(['reminder_*'], ofAgent(reminderKeys.ofAgent))

export const maxReminders = 200

export const remindersQuery = (api: Client, name: string, status: 'pending' | 'all') =>
  queryOptions({
    queryKey: [...reminderKeys.ofAgent(name), status],
    queryFn: ({ signal }) =>
      api.call(listReminders, { params: { name }, query: { status, limit: String(maxReminders) }, signal }),
  })
