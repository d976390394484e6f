import { type ManagedUser, setUserRole, suspendUser, unsuspendUser } from '@roost/contracts/identity/people'
import { resetFactor } from '@roost/contracts/identity/second-factor'
import type { Role } from '@roost/contracts/kit/access'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { rowsOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { titleOf } from './people-rows.ts'
import { peopleKey } from './queries.ts'
import { roleLabel } from './role-choices.ts'

/** Changes of one account, saved optimistically, with Undo. */
export function usePersonActions(person: ManagedUser) {
  const { api, queries } = useApp()
  const params = { username: person.username }
  const title = titleOf(person)
  const shown = (part: Partial<ManagedUser>) => [
    rowsOf<ManagedUser>(peopleKey, (row) => row.username === person.username, part),
  ]

  const change = useOptimisticSave({
    queryKey: peopleKey,
    save: ({ nextRole }: { nextRole: Role; before: Role }) =>
      api.call(setUserRole, { params, body: { role: nextRole } }),
    shows: ({ nextRole }) => shown({ role: nextRole }),
    onSuccess: (_reply, { nextRole, before }) =>
      showUndoable(
        `Role of ${title} changed to ${roleLabel(nextRole)}.`,
        'It applies from the next request.',
        () => change.mutate({ nextRole: before, before: nextRole }),
      ),
  })
  const role = { ...change, mutate: (nextRole: Role) => change.mutate({ nextRole, before: person.role }) }
  const suspend = useOptimisticSave({
    queryKey: peopleKey,
    save: (_now: undefined) => api.call(suspendUser, { params }),
    shows: () => shown({ suspended_at: new Date().toISOString() }),
    onSuccess: () =>
      showUndoable(`${title} suspended.`, 'Sessions and keys are refused. No data was deleted.', () =>
        unsuspend.mutate(),
      ),
  })
  const unsuspend = useOptimisticSave({
    queryKey: peopleKey,
    save: (_now: undefined) => api.call(unsuspendUser, { params }),
    shows: () => shown({ suspended_at: null }),
    onSuccess: () => showUndoable(`${title} unsuspended.`, undefined, () => suspend.mutate()),
  })
  const reset = useMutation({
    mutationFn: () => api.call(resetFactor, { params }),
    onSuccess: () => {
      toast({ title: `Second factor of ${title} removed.`, tone: 'success' })
      return queries.invalidateQueries({ queryKey: peopleKey })
    },
    onError: showFault,
  })
  return { role, suspend, unsuspend, reset }
}

function showUndoable(title: string, description: string | undefined, undo: () => void): void {
  toast({ title, description, tone: 'success', action: { label: 'Undo', onAction: undo } })
}

function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
