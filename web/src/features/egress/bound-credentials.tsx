import type { AgentEgress, EgressCredential } from '@roost/contracts/agents/egress'
import { Ellipsis, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Section } from '../../ui/section.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useUnbind } from './actions.ts'
import { BindDialog } from './bind-dialog.tsx'

/** Credentials that the agent uses and never holds. */
export function BoundCredentials({ name, egress }: { name: string; egress: AgentEgress }) {
  const [editing, setEditing] = useState<EgressCredential | 'new' | null>(null)
  const [asked, setAsked] = useState<EgressCredential | null>(null)
  const unbind = useUnbind(name, () => setAsked(null))
  return (
    <Section
      title="Kept by the platform"
      description="Credentials whose values stay here. The agent holds a placeholder, and the platform puts the value on the wire for the named hosts alone."
      actions={
        <Button icon={<Plus aria-hidden />} onClick={() => setEditing('new')}>
          Keep a credential
        </Button>
      }
    >
      {egress.credentials.length === 0 ? (
        <p className="text-muted text-sm">None is kept: what the agent was given lies in its container.</p>
      ) : (
        <ul
          aria-label="Credentials kept by the platform"
          className="divide-y divide-line rounded-lg border border-line bg-surface text-sm"
        >
          {egress.credentials.map((credential) => (
            <CredentialRow
              key={credential.name}
              credential={credential}
              onEdit={() => setEditing(credential)}
              onForget={() => setAsked(credential)}
            />
          ))}
        </ul>
      )}
      <BindDialog name={name} editing={editing} onClose={() => setEditing(null)} />
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={() => setAsked(null)}
        title={`Forget ${asked?.name ?? ''}?`}
        description="Its value is deleted, and the placeholder that the agent holds is worth nothing then. This cannot be undone."
        action="Forget the credential"
        pending={unbind.isPending}
        onConfirm={() => asked && unbind.mutate(asked)}
      />
    </Section>
  )
}

type RowProps = { credential: EgressCredential; onEdit: () => void; onForget: () => void }

function CredentialRow({ credential, onEdit, onForget }: RowProps) {
  const { name, hosts, places, has_value, source, last_used_at } = credential
  return (
    <li className="flex min-w-0 items-start gap-3 py-2 pr-1.5 pl-4">
      <div className="min-w-0 flex-1">
        <p className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
          <code className="break-all text-xs">{name}</code>
          {!has_value && <Badge tone="warning">no value yet</Badge>}
          {source === 'template' && <Badge>from the template</Badge>}
          {places.includes('query') && <Badge>also in queries</Badge>}
        </p>
        <p className="break-words text-muted text-xs">
          for {hosts.join(', ')} ·{' '}
          {last_used_at ? (
            <>
              used <RelativeTime at={last_used_at} />
            </>
          ) : (
            'not used yet'
          )}
        </p>
      </div>
      <Menu
        trigger={<IconButton size="sm" label={`Actions for ${name}`} icon={<Ellipsis aria-hidden />} />}
        items={[
          { label: 'Change', icon: <Pencil aria-hidden />, onSelect: onEdit },
          { label: 'Forget…', icon: <Trash2 aria-hidden />, danger: true, onSelect: onForget },
        ]}
      />
    </li>
  )
}
