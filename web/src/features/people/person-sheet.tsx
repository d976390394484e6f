import type { ManagedUser } from '@roost/contracts/identity/people'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Field } from '../../ui/field.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Select } from '../../ui/select.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { agentsQuery } from '../agents/queries.ts'
import { titleOf } from './people-rows.ts'
import { usePersonActions } from './person-actions.ts'
import { PersonState } from './person-state.tsx'
import { ResetFactorDialog } from './reset-factor-dialog.tsx'
import { roleChoices, roleHint } from './role-choices.ts'

type PersonSheetProps = { person: ManagedUser | null; isMe: boolean; onClose: () => void }

/** One account: profile, role, agents and actions. */
export function PersonSheet({ person, isMe, onClose }: PersonSheetProps) {
  return (
    <Sheet
      open={person !== null}
      onOpenChange={onClose}
      title={person ? titleOf(person) : ''}
      description={person && person.username !== titleOf(person) ? person.username : undefined}
    >
      {person && <Person person={person} isMe={isMe} />}
    </Sheet>
  )
}

function Person({ person, isMe }: { person: ManagedUser; isMe: boolean }) {
  const { role, suspend, unsuspend, reset } = usePersonActions(person)
  const [isAsking, setAsking] = useState(false)
  return (
    <div className="flex flex-col gap-5">
      {person.suspended_at && (
        <Banner tone="warning" title="This account is suspended.">
          Since <RelativeTime at={person.suspended_at} />. Its sessions have ended and its keys are refused.
          No data was deleted.
        </Banner>
      )}
      <KeyValues
        items={[
          { label: 'Status', value: <PersonState person={person} /> },
          { label: 'E-mail', value: person.email },
          {
            label: 'Last sign-in',
            value: person.last_login_at ? <RelativeTime at={person.last_login_at} /> : 'never',
          },
          { label: 'Account created', value: <RelativeTime at={person.created_at} /> },
          { label: 'Second factor', value: person.mfa_enrolled ? 'On' : 'Off' },
        ]}
      />
      <Field
        label="Role"
        hint={isMe ? 'You cannot change your own role. Ask another admin.' : `${roleHint(person.role)}.`}
      >
        <Select
          options={roleChoices}
          value={person.role}
          disabled={isMe}
          onValueChange={(value) => role.mutate(value)}
          className="w-full"
        />
      </Field>
      <OwnedAgents username={person.username} />
      <div className="flex flex-wrap gap-2 border-t pt-4">
        <Link to="/audit" search={{ actor: person.id }} className={buttonClass()}>
          View audit log
        </Link>
        <Link to="/keys" search={{ all: true, q: person.username }} className={buttonClass()}>
          View MCP keys
        </Link>
        {person.mfa_enrolled && <Button onClick={() => setAsking(true)}>Reset second factor…</Button>}
        {!isMe &&
          (person.suspended_at === null ? (
            <Button variant="danger" pending={suspend.isPending} onClick={() => suspend.mutate()}>
              Suspend
            </Button>
          ) : (
            <Button pending={unsuspend.isPending} onClick={() => unsuspend.mutate()}>
              Unsuspend
            </Button>
          ))}
      </div>
      <ResetFactorDialog person={person} open={isAsking} onOpenChange={setAsking} reset={reset} />
    </div>
  )
}

function OwnedAgents({ username }: { username: string }) {
  const agents = useQuery(agentsQuery(useApi()))
  if (agents.isError && !agents.data)
    return <ErrorState error={agents.error} onRetry={() => void agents.refetch()} className="py-4" />
  if (!agents.data) return <Skeleton className="h-12" />
  const owned = agents.data.filter(({ owner }) => owner === username)
  return (
    <section aria-label="Agents">
      <h3 className="font-medium text-sm">
        {owned.length === 0 ? 'No own agents' : `Owner of ${plural(owned.length, 'agent')}`}
      </h3>
      {owned.length > 0 && (
        <ul className="mt-1.5 flex flex-wrap gap-1.5">
          {owned.map(({ name, label }) => (
            <li key={name} className="min-w-0 max-w-full">
              <Link
                to="/agents/$name"
                params={{ name }}
                className="block truncate rounded-sm bg-hover px-1.5 py-0.5 text-xs hover:text-accent"
              >
                {label ?? name}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
