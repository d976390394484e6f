import {
  deleteEventSubscription,
  type EventSubscription,
  updateEventSubscription,
} from '@roost/contracts/triggers/events'
import { describeFault } from '../../lib/fault.ts'
import { rowsOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { eventKeys } from './queries.ts'

function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

/** Fields of error codes that do not name one. */
export const fieldOfCode = {
  invalid_event_type: 'event_type',
  reserved_event_type: 'event_type',
  already_exists: 'event_type',
  agent_not_permitted: 'source_agent',
}

/** Switches a subscription optimistically. */
export function useSubscriptionSwitch(name: string) {
  const { api, queries } = useApp()
  const key = [...eventKeys.ofAgent(name), 'subscriptions']
  return useOptimisticSave({
    queryKey: key,
    save: ({ id, enabled }: { id: string; enabled: boolean }) =>
      api.call(updateEventSubscription, { params: { id }, body: { enabled } }),
    shows: ({ id, enabled }) =>
      queries
        .getQueryCache()
        .findAll({ queryKey: key })
        .map(({ queryKey }) => rowsOf<EventSubscription>([...queryKey], (row) => row.id === id, { enabled })),
  })
}

/** Deletes subscriptions when the time for Undo has passed. */
export function useSubscriptionRemoval(name: string) {
  const { api, queries } = useApp()
  const { pending, later } = useUndo()
  const remove = ({ id, event_type }: EventSubscription) =>
    later({
      id,
      title: `Subscription to ${event_type} deleted.`,
      run: async () => {
        try {
          await api.call(deleteEventSubscription, { params: { id } })
        } catch (error) {
          showFault(error)
        }
        await queries.invalidateQueries({ queryKey: eventKeys.ofAgent(name) })
      },
    })
  return { pending, remove }
}
