import { type ManagedUser, setUserRole, suspendUser, unsuspendUser } from '@roost/contracts/identity/people'
import { resetFactor } from '@roost/contracts/identity/second-factor'
import type { Role } from '@roost/contracts/kit/access'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { rowsOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
import { toast } from '../../ui/toast.tsx'
import { titleOf } from './people-rows.ts'
import { peopleKey } from './queries.ts'
import { roleLabel } from './role-choices.ts'

/** Changes of one account; shown at once, taken back when refused, and offered to be undone. */
export function usePersonActions(person: ManagedUser) {
  const { api, queries } = useApp()
  const params = { username: person.username }
  const title = titleOf(person)
  const shown = (part: Partial<ManagedUser>) => [
    rowsOf<ManagedUser>(peopleKey, (row) => row.username === person.username, part),
  ]

  const change = useAtOnce({
    queryKey: peopleKey,
    save: ({ wanted }: { wanted: Role; before: Role }) =>
      api.call(setUserRole, { params, body: { role: wanted } }),
    shows: ({ wanted }) => shown({ role: wanted }),
    onSuccess: (_reply, { wanted, before }) =>
      tell(`${title} is ${roleLabel(wanted)} now.`, 'It holds from the next request on.', () =>
        change.mutate({ wanted: before, before: wanted }),
      ),
  })
  const role = { ...change, mutate: (wanted: Role) => change.mutate({ wanted, before: person.role }) }
  const suspend = useAtOnce({
    queryKey: peopleKey,
    save: (_now: undefined) => api.call(suspendUser, { params }),
    shows: () => shown({ suspended_at: new Date().toISOString() }),
    onSuccess: () =>
      tell(`${title} is suspended.`, 'Sessions and keys are refused; nothing was deleted.', () =>
        unsuspend.mutate(),
      ),
  })
  const unsuspend = useAtOnce({
    queryKey: peopleKey,
    save: (_now: undefined) => api.call(unsuspendUser, { params }),
    shows: () => shown({ suspended_at: null }),
    onSuccess: () => tell(`${title} may come in again.`, undefined, () => suspend.mutate()),
  })
  const reset = useMutation({
    mutationFn: () => api.call(resetFactor, { params }),
    onSuccess: () => {
      toast({ title: `The second factor of ${title} is removed.`, tone: 'success' })
      return queries.invalidateQueries({ queryKey: peopleKey })
    },
    onError: complain,
  })
  return { role, suspend, unsuspend, reset }
}

function tell(title: string, description: string | undefined, undo: () => void): void {
  toast({ title, description, tone: 'success', action: { label: 'Undo', onAction: undo } })
}

function complain(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
