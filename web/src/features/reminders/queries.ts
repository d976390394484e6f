import type { Client } from '@roost/contracts/client'
import { listReminders } from '@roost/contracts/triggers/reminders'
import { queryOptions } from '@tanstack/react-query'

/** Keys begin with their subject; `live/stale.ts` names their prefixes. */
export const reminderKeys = {
  ofAgent: (name: string) => ['agent', name, 'reminders'] as const,
}

export const maxReminders = 200

export const remindersQuery = (api: Client, name: string, status: 'pending' | 'all') =>
  queryOptions({
    queryKey: [...reminderKeys.ofAgent(name), status],
    queryFn: ({ signal }) =>
      api.call(listReminders, { params: { name }, query: { status, limit: String(maxReminders) }, signal }),
  })
