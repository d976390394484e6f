import type { Connector } from '@roost/contracts/agents/connector'
import { revokeKey } from '@roost/contracts/identity/keys'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { connectorKey } from './queries.ts'

type Key = Connector['keys'][number]

/** The connector keys of the agent, each with a revoke button. */
export function ConnectorKeys({ name, keys }: { name: string; keys: readonly Key[] }) {
  const { api, queries } = useApp()
  const [revoking, setRevoking] = useState<Key | null>(null)
  const revoke = useMutation({
    mutationFn: (id: string) => api.call(revokeKey, { params: { id } }),
    onSuccess: () => {
      toast({ title: 'Key revoked.', tone: 'success' })
      void queries.invalidateQueries({ queryKey: ['keys'] })
      return queries.invalidateQueries({ queryKey: connectorKey(name) })
    },
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled: () => setRevoking(null),
  })
  if (keys.length === 0) return <p className="text-muted text-sm">No connector keys yet.</p>
  return (
    <>
      <ul
        aria-label="Connector keys"
        className="divide-y divide-line rounded-lg border border-line bg-surface"
      >
        {keys.map((key) => (
          <li key={key.key_id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
            <div className="min-w-0 flex-1 basis-40">
              <code className="text-sm">{key.key_prefix}…</code>
              <p className="text-muted text-xs">
                created <RelativeTime at={key.created_at} /> ·{' '}
                {key.last_used_at ? (
                  <>
                    last used <RelativeTime at={key.last_used_at} />
                  </>
                ) : (
                  'never used'
                )}
              </p>
            </div>
            <Button
              size="sm"
              variant="ghost"
              aria-label={`Revoke ${key.key_prefix}…`}
              onClick={() => setRevoking(key)}
            >
              Revoke
            </Button>
          </li>
        ))}
      </ul>
      <ConfirmDialog
        open={revoking !== null}
        onOpenChange={() => setRevoking(null)}
        title="Revoke connector key?"
        description={`Clients that use ${revoking?.key_prefix}… lose access immediately. This cannot be undone.`}
        action="Revoke key"
        pending={revoke.isPending}
        onConfirm={() => revoking && revoke.mutate(revoking.key_id)}
      />
    </>
  )
}
