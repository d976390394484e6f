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

/** Credentials that the agent uses without holding their values. */
export function BoundCredentials({ name, egress }: { name: string; egress: AgentEgress }) {
  const [editing, setEditing] = useState<EgressCredential | 'new' | null>(null)
  const [deleting, setDeleting] = useState<EgressCredential | null>(null)
  const unbind = useUnbind(name, () => setDeleting(null))
  return (
    <Section
      title="Bound credentials"
      description="Credentials whose values never enter the agent. The agent holds a placeholder, which the platform replaces in requests to the named hosts."
      actions={
        <Button icon={<Plus aria-hidden />} onClick={() => setEditing('new')}>
          Bind credential
        </Button>
      }
    >
      {egress.credentials.length === 0 ? (
        <p className="text-muted text-sm">
          No bound credentials. Other credentials are stored inside the container.
        </p>
      ) : (
        <ul
          aria-label="Bound credentials"
          className="divide-y divide-line rounded-lg border border-line bg-surface text-sm"
        >
          {egress.credentials.map((credential) => (
            <CredentialRow
              key={credential.name}
              credential={credential}
              onEdit={() => setEditing(credential)}
              onDelete={() => setDeleting(credential)}
            />
          ))}
        </ul>
      )}
      <BindDialog name={name} editing={editing} onClose={() => setEditing(null)} />
      <ConfirmDialog
        open={deleting !== null}
        onOpenChange={() => setDeleting(null)}
        title={`Delete ${deleting?.name ?? ''}?`}
        description="Deletes the stored value. The agent’s placeholder stops working. This cannot be undone."
        action="Delete credential"
        pending={unbind.isPending}
        onConfirm={() => deleting && unbind.mutate(deleting)}
      />
    </Section>
  )
}

type RowProps = { credential: EgressCredential; onEdit: () => void; onDelete: () => void }

function CredentialRow({ credential, onEdit, onDelete }: RowProps) {
  const { name, hosts, places, has_value, source, last_used_at } = credential
  return (
    <li className="flex min-w-0 items-start gap-3 py-2 pr-1.5 pl-4">
      <div className="min-w-0 flex-1">
        <p className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
          <code className="break-all text-xs">{name}</code>
          {!has_value && <Badge tone="warning">no value</Badge>}
          {source === 'template' && <Badge>from the template</Badge>}
          {places.includes('query') && <Badge>also in URL queries</Badge>}
        </p>
        <p className="break-words text-muted text-xs">
          for {hosts.join(', ')} ·{' '}
          {last_used_at ? (
            <>
              last used <RelativeTime at={last_used_at} />
            </>
          ) : (
            'never used'
          )}
        </p>
      </div>
      <Menu
        trigger={<IconButton size="sm" label={`Actions for ${name}`} icon={<Ellipsis aria-hidden />} />}
        items={[
          { label: 'Edit', icon: <Pencil aria-hidden />, onSelect: onEdit },
          { label: 'Delete…', icon: <Trash2 aria-hidden />, danger: true, onSelect: onDelete },
        ]}
      />
    </li>
  )
}
