import type { ManagedUser } from '@roost/contracts/identity/people'
import { putFactorPolicy } from '@roost/contracts/identity/second-factor'
import type { Role } from '@roost/contracts/kit/access'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { peopleQuery } from '../people/queries.ts'
import { roleChoices } from '../people/role-choices.ts'
import { factorPolicyKey, factorPolicyQuery } from './queries.ts'

/** The roles that must have a second factor. */
export function FactorPolicySection() {
  const policy = useQuery(factorPolicyQuery(useApp().api))
  return (
    <Section
      title="Two-factor authentication"
      description="Roles that require a code from an authenticator app at sign-in. Keys and open sessions are not affected."
    >
      {policy.isError && !policy.data ? (
        <ErrorState error={policy.error} onRetry={() => void policy.refetch()} />
      ) : policy.data ? (
        <PolicyForm required={policy.data.required_roles} />
      ) : (
        <Skeleton className="h-28" />
      )}
    </Section>
  )
}

function PolicyForm({ required }: { required: readonly Role[] }) {
  const { api, queries } = useApp()
  const { data: people } = useQuery(peopleQuery(api))
  /** Unsaved changes; null: none. */
  const [draft, setDraft] = useState<readonly Role[] | null>(null)
  const ticked = draft ?? required
  const isDirty = ticked.length !== required.length || ticked.some((role) => !required.includes(role))
  const save = useMutation({
    mutationFn: () => api.call(putFactorPolicy, { body: { required_roles: [...ticked] } }),
    onSuccess: async (reply) => {
      await storeReply(queries, factorPolicyKey, reply)
      setDraft(null)
      toast({
        title: 'Policy saved.',
        description: 'It applies at the next sign-in of each user.',
        tone: 'success',
      })
      return queries.invalidateQueries({ queryKey: ['second-factor'] })
    },
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
  })
  const toggle = (role: Role, isOn: boolean) =>
    setDraft(isOn ? [...ticked, role] : ticked.filter((other) => other !== role))
  return (
    <fieldset className="flex flex-col gap-2.5">
      <legend className="mb-2 font-medium text-sm">Required for</legend>
      {roleChoices.map(({ value, label }) => (
        <Checkbox
          key={value}
          checked={ticked.includes(value)}
          onCheckedChange={(isOn) => toggle(value, isOn)}
          hint={people && enrolledWords(people, value)}
        >
          {label}s
        </Checkbox>
      ))}
      {isDirty && (
        <div className="mt-1 flex flex-wrap items-center gap-2">
          <Button variant="primary" pending={save.isPending} onClick={() => save.mutate()}>
            Save
          </Button>
          <Button variant="ghost" disabled={save.isPending} onClick={() => setDraft(null)}>
            Discard
          </Button>
          <span className="text-muted text-xs">
            Users without a second factor set it up at their next sign-in.
          </span>
        </div>
      )}
    </fieldset>
  )
}

function enrolledWords(people: readonly ManagedUser[], role: Role): string {
  const those = people.filter((person) => person.role === role)
  if (those.length === 0) return 'No users with this role'
  return `${those.filter(({ mfa_enrolled }) => mfa_enrolled).length} of ${those.length} set up`
}
