import { type ManagedUser, setUserRole, suspendUser, unsuspendUser } from '@roost/contracts/identity/people'
import { resetFactor } from '@roost/contracts/identity/second-factor'
import type { Role } from '@roost/contracts/kit/access'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { type App, useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { titleOf } from './people-rows.ts'
import { peopleKey } from './queries.ts'
import { roleLabel } from './role-choices.ts'

/** Changes of one account; shown at once, taken back when refused, and offered to be undone. */
export function usePersonActions(person: ManagedUser) {
  const app = useApp()
  const params = { username: person.username }
  const title = titleOf(person)
  const set = (part: Partial<ManagedUser>, call: () => Promise<ManagedUser>) =>
    change(app, person, part, call)

  const role = useMutation({
    mutationFn: (wanted: Role) =>
      set({ role: wanted }, () => app.api.call(setUserRole, { params, body: { role: wanted } })),
    onMutate: () => person.role,
    onSuccess: (_reply, wanted, before) =>
      tell(`${title} is ${roleLabel(wanted)} now.`, 'It holds from the next request on.', () =>
        role.mutate(before),
      ),
  })
  const suspend = useMutation({
    mutationFn: () =>
      set({ suspended_at: new Date().toISOString() }, () => app.api.call(suspendUser, { params })),
    onSuccess: () =>
      tell(`${title} is suspended.`, 'Sessions and keys are refused; nothing was deleted.', () =>
        unsuspend.mutate(),
      ),
  })
  const unsuspend = useMutation({
    mutationFn: () => set({ suspended_at: null }, () => app.api.call(unsuspendUser, { params })),
    onSuccess: () => tell(`${title} may come in again.`, undefined, () => suspend.mutate()),
  })
  const reset = useMutation({
    mutationFn: () => app.api.call(resetFactor, { params }),
    onSuccess: () => {
      toast({ title: `The second factor of ${title} is removed.`, tone: 'success' })
      return app.queries.invalidateQueries({ queryKey: peopleKey })
    },
    onError: complain,
  })
  return { role, suspend, unsuspend, reset }
}

async function change(
  { queries }: App,
  person: ManagedUser,
  part: Partial<ManagedUser>,
  call: () => Promise<ManagedUser>,
): Promise<void> {
  const show = (next: Partial<ManagedUser>) =>
    queries.setQueryData<ManagedUser[]>(peopleKey, (rows) =>
      rows?.map((row) => (row.username === person.username ? { ...row, ...next } : row)),
    )
  await queries.cancelQueries({ queryKey: peopleKey })
  show(part)
  try {
    show(await call())
  } catch (error) {
    show({ role: person.role, suspended_at: person.suspended_at })
    complain(error)
    throw error
  }
}

function tell(title: string, description: string | undefined, undo: () => void): void {
  toast({ title, description, tone: 'success', action: { label: 'Undo', onAction: undo } })
}

function complain(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
