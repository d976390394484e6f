import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { type KeyEnding, useEndKey } from './key-actions.ts'

/** Null keeps it closed. */
export function EndKeyDialog({
  asked,
  onClose,
}: {
  asked: KeyEnding | null
  onClose: (ended: KeyEnding | null) => void
}) {
  const end = useEndKey(onClose)
  const name = asked?.key.name ?? ''
  const isRevoke = asked?.how === 'revoke'
  return (
    <ConfirmDialog
      open={asked !== null}
      onOpenChange={() => onClose(null)}
      title={isRevoke ? `Revoke “${name}”?` : `Delete “${name}”?`}
      description={
        isRevoke
          ? 'Programs that use it are refused at once. It stays in this list.'
          : 'Programs that use it are refused at once, and it leaves this list. The audit log keeps its name.'
      }
      action={isRevoke ? 'Revoke the key' : 'Delete the key'}
      pending={end.isPending}
      onConfirm={() => asked && end.mutate(asked)}
    />
  )
}
