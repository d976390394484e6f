import type { RosterAgent } from '@roost/contracts/conversations/workspace'
import { Link } from '@tanstack/react-router'
import { useApp } from '../../shell/app-context.ts'
import { StatusDot } from '../../ui/badge.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { stateWords } from './state-words.ts'

export function AboutAgent({ agent }: { agent: RosterAgent }) {
  const { session } = useApp()
  const { name, label, description, owner, owned, shared_at, state } = agent
  return (
    <div className="flex flex-col gap-4">
      {description !== null && <p className="text-sm [overflow-wrap:anywhere]">{description}</p>}
      <KeyValues
        items={[
          label !== null && { label: 'Name', value: <span className="break-all">{name}</span> },
          { label: 'Status', value: <StatusDot {...stateWords[state]} /> },
          { label: 'Owner', value: owned ? 'you' : <span className="break-all">{owner ?? 'unknown'}</span> },
          shared_at !== null && { label: 'Shared', value: <RelativeTime at={shared_at} /> },
        ]}
      />
      {/* Guests, who have no account, see no more than this. */}
      {session.token() !== null && (
        <Link to="/agents/$name" params={{ name }} className={buttonClass()}>
          {owned ? 'Open agent' : 'View details'}
        </Link>
      )}
    </div>
  )
}
