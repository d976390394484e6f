import { useBlocker } from '@tanstack/react-router'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { placeOf } from './paths.ts'

export type LeaveDialogProps = {
  /** The file with changes that are not saved; null: nothing is lost by leaving. */
  path: string | null
  onDiscard: () => void
}

/** Stands between unsaved changes and the way to another page, another file, or out of the browser's tab. */
export function LeaveDialog({ path, onDiscard }: LeaveDialogProps) {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => {
      // Search parameters of whichever page comes next.
      const { tab, path: to } = next.search as { tab?: string; path?: string }
      const stays = current.pathname === next.pathname && tab === 'files' && placeOf(to).path === path
      return path !== null && !stays
    },
    enableBeforeUnload: () => path !== null,
    disabled: path === null,
    withResolver: true,
  })
  return (
    <ConfirmDialog
      open={leaving.status === 'blocked'}
      onOpenChange={(open) => !open && leaving.reset?.()}
      title="Leave without saving?"
      description="What you changed in this file is not saved."
      action="Discard changes"
      onConfirm={() => {
        onDiscard()
        leaving.proceed?.()
      }}
    />
  )
}
