import {
  acknowledgeNotification,
  dismissNotification,
  dismissNotifications,
  type Notification,
} from '@roost/contracts/operations/notifications'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { notificationKey } from './queries.ts'

function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

/** Reading and dismissing notifications. Dismissing waits for Undo; `pending` has the affected IDs. */
export function useNotificationActions() {
  const { api, queries } = useApp()
  const undo = useUndo()
  const stale = () => queries.invalidateQueries({ queryKey: notificationKey })
  const acknowledge = useMutation({
    mutationFn: (id: string) => api.call(acknowledgeNotification, { params: { id } }),
    onError: showFault,
    onSettled: stale,
  })
  const dismissAll = useMutation({
    mutationFn: (agent: string | undefined) =>
      api.call(dismissNotifications, { body: { agent_name: agent ?? null } }),
    onSuccess: ({ dismissed }) =>
      void toast({ title: `${plural(dismissed, 'notification')} dismissed.`, tone: 'success' }),
    onError: showFault,
    onSettled: stale,
  })
  const dismiss = ({ id, title }: Pick<Notification, 'id' | 'title'>) =>
    undo.later({
      id,
      title: 'Notification dismissed',
      description: title,
      run: async () => {
        await api.call(dismissNotification, { params: { id } }).catch(showFault)
        await stale()
      },
    })
  return { pending: undo.pending, acknowledge, dismiss, dismissAll }
}
