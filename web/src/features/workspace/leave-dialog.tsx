import { useBlocker } from '@tanstack/react-router'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { placeOf } from './paths.ts'

export type LeaveDialogProps = {
  /** The file with unsaved changes; null: none. */
  path: string | null
  onDiscard: () => void
}

/** Confirms leaving unsaved changes for another page or file. The browser confirms closing the tab. */
export function LeaveDialog({ path, onDiscard }: LeaveDialogProps) {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => {
      // The next page's search parameters are unknown here.
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
      description="Your changes to this file are not saved."
      action="Discard changes"
      onConfirm={() => {
        onDiscard()
        leaving.proceed?.()
      }}
    />
  )
}
