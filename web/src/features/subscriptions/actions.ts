import {
  deleteEventSubscription,
  type EventSubscription,
  updateEventSubscription,
} from '@roost/contracts/triggers/events'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { eventKeys } from './queries.ts'

function tellFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

/** Refusals that are about one field and do not name it. */
export const fieldOfCode = {
  invalid_event_type: 'event_type',
  reserved_event_type: 'event_type',
  already_exists: 'event_type',
  agent_not_permitted: 'source_agent',
}

/** Switches a subscription; shown at once and taken back when the platform refuses. */
export function useSubscriptionSwitch(name: string) {
  const { api, queries } = useApp()
  const key = [...eventKeys.ofAgent(name), 'subscriptions']
  return useMutation({
    mutationFn: ({ id, enabled }: { id: string; enabled: boolean }) =>
      api.call(updateEventSubscription, { params: { id }, body: { enabled } }),
    onMutate: async ({ id, enabled }) => {
      await queries.cancelQueries({ queryKey: key })
      const before = queries.getQueriesData<EventSubscription[]>({ queryKey: key })
      queries.setQueriesData<EventSubscription[]>({ queryKey: key }, (rows) =>
        rows?.map((row) => (row.id === id ? { ...row, enabled } : row)),
      )
      return before
    },
    onError: (error, _change, before) => {
      for (const [queryKey, rows] of before ?? []) queries.setQueryData(queryKey, rows)
      tellFault(error)
    },
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  })
}

/** Ends subscriptions once the time for Undo has passed. */
export function useSubscriptionRemoval(name: string) {
  const { api, queries } = useApp()
  const { pending, later } = useUndo()
  const remove = ({ id, event_type }: EventSubscription) =>
    later({
      id,
      title: `The subscription to ${event_type} is ended.`,
      run: async () => {
        try {
          await api.call(deleteEventSubscription, { params: { id } })
        } catch (error) {
          tellFault(error)
        }
        await queries.invalidateQueries({ queryKey: eventKeys.ofAgent(name) })
      },
    })
  return { pending, remove }
}
