import type { Client } from '@roost/contracts/client'
import { listReminders } from '@roost/contracts/triggers/reminders'
import { queryOptions } from '@tanstack/react-query'

/** Keys begin with what they show; `live/stale.ts` names their prefixes. */
export const reminderKeys = {
  ofAgent: (name: string) => ['agent', name, 'reminders'] as const,
}

/** Reminders that are listed. */
export const mostShown = 200

export const remindersQuery = (api: Client, name: string, status: 'pending' | 'all') =>
  queryOptions({
    queryKey: [...reminderKeys.ofAgent(name), status],
    queryFn: ({ signal }) =>
      api.call(listReminders, { params: { name }, query: { status, limit: String(mostShown) }, signal }),
  })
