import {
  deleteEventSubscription,
  type EventSubscription,
  updateEventSubscription,
} from '@roost/contracts/triggers/events'
import { describeFault } from '../../lib/fault.ts'
import { rowsOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
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
  return useAtOnce({
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
