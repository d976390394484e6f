import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { type KeyEnding, useEndKey } from './key-actions.ts'

/** Null keeps the dialog closed. */
export function EndKeyDialog({
  ending,
  onClose,
}: {
  ending: KeyEnding | null
  onClose: (ended: KeyEnding | null) => void
}) {
  const end = useEndKey(onClose)
  const name = ending?.key.name ?? ''
  const isRevoke = ending?.how === 'revoke'
  return (
    <ConfirmDialog
      open={ending !== null}
      onOpenChange={() => onClose(null)}
      title={isRevoke ? `Revoke “${name}”?` : `Delete “${name}”?`}
      description={
        isRevoke
          ? 'Programs that use this key lose access immediately. The key stays in this list.'
          : 'Programs that use this key lose access immediately. The key is removed from this list; the audit log keeps its name.'
      }
      action={isRevoke ? 'Revoke key' : 'Delete key'}
      pending={end.isPending}
      onConfirm={() => ending && end.mutate(ending)}
    />
  )
}
