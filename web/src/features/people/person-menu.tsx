import type { ManagedUser } from '@roost/contracts/identity/people'
import { Link } from '@tanstack/react-router'
import { Ellipsis, KeyRound, ScrollText, ShieldOff, UserCheck, UserX } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { titleOf } from './people-rows.ts'
import { usePersonActions } from './person-actions.ts'
import { ResetFactorDialog } from './reset-factor-dialog.tsx'
import { roleChoices } from './role-choices.ts'

/** Actions on one account without opening it. */
export function PersonMenu({ person, isMe }: { person: ManagedUser; isMe: boolean }) {
  const { role, suspend, unsuspend, reset } = usePersonActions(person)
  const [isAsking, setAsking] = useState(false)
  const isSuspended = person.suspended_at !== null
  return (
    <>
      <Menu
        trigger={
          <IconButton
            size="sm"
            label={`Actions for ${titleOf(person)}`}
            icon={<Ellipsis aria-hidden />}
            pending={suspend.isPending || unsuspend.isPending || role.isPending}
          />
        }
        items={[
          ...(isMe ? [] : roleChoices)
            .filter(({ value }) => value !== person.role)
            .map(({ value, label, hint }) => ({
              label: `Make ${label.toLowerCase()}`,
              hint,
              onSelect: () => role.mutate(value),
            })),
          !isMe && 'separator',
          {
            element: (
              <Link to="/audit" search={{ actor: person.id }}>
                <ScrollText aria-hidden />
                View audit log
              </Link>
            ),
          },
          {
            element: (
              <Link to="/keys" search={{ all: true, q: person.username }}>
                <KeyRound aria-hidden />
                View MCP keys
              </Link>
            ),
          },
          person.mfa_enrolled && {
            label: 'Reset second factor…',
            icon: <ShieldOff aria-hidden />,
            onSelect: () => setAsking(true),
          },
          !isMe && 'separator',
          !isMe &&
            (isSuspended
              ? { label: 'Unsuspend', icon: <UserCheck aria-hidden />, onSelect: () => unsuspend.mutate() }
              : {
                  label: 'Suspend',
                  icon: <UserX aria-hidden />,
                  danger: true,
                  onSelect: () => suspend.mutate(),
                }),
        ]}
      />
      <ResetFactorDialog person={person} open={isAsking} onOpenChange={setAsking} reset={reset} />
    </>
  )
}
