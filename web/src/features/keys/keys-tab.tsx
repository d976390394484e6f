import { deleteKey, type McpKey, type NewKey, revokeKey } from '@roost/contracts/identity/keys'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { Section } from '../../ui/section.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { keysKey, keysQuery } from './queries.ts'

/** Keys for programs: minted, shown once, revoked. */
export function KeysTab() {
  const { data: keys } = useSuspenseQuery(keysQuery(useApp().api, { all: false }))
  const [isCreating, setCreating] = useState(false)
  const [minted, setMinted] = useState<NewKey | null>(null)
  return (
    <Section
      title="MCP keys"
      description="Programs use them as bearer tokens, with all that you may do yourself, or less. They do not expire by themselves unless you say so."
      actions={
        <Button variant="primary" icon={<Plus />} onClick={() => setCreating(true)}>
          Mint a key
        </Button>
      }
    >
      {keys.length === 0 ? (
        <EmptyState
          icon={<KeyRound />}
          title="No keys yet"
          description="Mint one to let a program or an MCP client reach your agents."
        />
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {keys.map((key) => (
            <KeyRow key={key.id} row={key} />
          ))}
        </ul>
      )}
      <CreateKeyDialog
        open={isCreating}
        onOpenChange={setCreating}
        onMinted={(key) => {
          setCreating(false)
          setMinted(key)
        }}
      />
      <SecretDialog
        title={`The key “${minted?.name ?? ''}”`}
        secrets={minted ? [{ label: 'Key', value: minted.key }] : null}
        onClose={() => setMinted(null)}
      >
        <p className="text-muted text-sm">
          Send it as <code className="text-xs">Authorization: Bearer …</code> with each request.
        </p>
      </SecretDialog>
    </Section>
  )
}

function KeyRow({ row }: { row: McpKey }) {
  const { api, queries } = useApp()
  const [asked, setAsked] = useState<'revoke' | 'delete' | null>(null)
  const end = useMutation({
    mutationFn: async (how: 'revoke' | 'delete') => {
      await api.call(how === 'revoke' ? revokeKey : deleteKey, { params: { id: row.id } })
    },
    onSuccess: () => {
      setAsked(null)
      return queries.invalidateQueries({ queryKey: keysKey })
    },
    onError: (error) => toast({ title: error.message, tone: 'danger' }),
  })
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-40 flex-1">
        <p className="flex flex-wrap items-center gap-2 font-medium text-sm">
          <span className="min-w-0 break-words">{row.name}</span>
          <Badge>{row.scope}</Badge>
          {row.is_active ? null : <Badge tone="danger">revoked</Badge>}
        </p>
        {row.description ? <p className="text-muted text-xs">{row.description}</p> : null}
        <p className="text-faint text-xs">
          <code>{row.key_prefix}…</code> · minted <RelativeTime at={row.created_at} /> ·{' '}
          {row.last_used_at ? (
            <>
              last used <RelativeTime at={row.last_used_at} />
            </>
          ) : (
            'never used'
          )}
          {row.agent_name ? ` · agent ${row.agent_name}` : ''}
        </p>
      </div>
      <div className="flex gap-2">
        {row.is_active ? (
          <Button size="sm" onClick={() => setAsked('revoke')} aria-label={`Revoke ${row.name}`}>
            Revoke
          </Button>
        ) : null}
        <Button
          size="sm"
          variant="ghost"
          onClick={() => setAsked('delete')}
          aria-label={`Delete ${row.name}`}
        >
          Delete
        </Button>
      </div>
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={() => setAsked(null)}
        title={asked === 'revoke' ? `Revoke “${row.name}”?` : `Delete “${row.name}”?`}
        description={
          asked === 'revoke'
            ? 'Programs that use it are refused at once. It stays in this list.'
            : 'Programs that use it are refused at once, and it leaves this list. The audit log keeps its name.'
        }
        action={asked === 'revoke' ? 'Revoke the key' : 'Delete the key'}
        pending={end.isPending}
        onConfirm={() => asked && end.mutate(asked)}
      />
    </li>
  )
}
