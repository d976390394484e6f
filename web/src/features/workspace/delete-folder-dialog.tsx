import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { nameOf, visibleName } from './paths.ts'

export type DeleteFolderDialogProps = {
  /** Null keeps the dialog closed. */
  path: string | null
  isPending: boolean
  onClose: () => void
  onConfirm: (path: string) => void
}

/** A folder takes everything in it along, and nothing brings it back: its name is typed. */
export function DeleteFolderDialog({ path, isPending, onClose, onConfirm }: DeleteFolderDialogProps) {
  const name = nameOf(path ?? '')
  return (
    <ConfirmDialog
      open={path !== null}
      onOpenChange={(open) => !open && onClose()}
      title={`Delete “${visibleName(name)}”?`}
      description="The folder goes with everything in it. This cannot be undone."
      action="Delete folder"
      typed={isTypable(name) ? name : 'delete'}
      pending={isPending}
      onConfirm={() => path !== null && onConfirm(path)}
    />
  )
}

/** Long names and those with unseen characters cannot be typed by a person. */
function isTypable(name: string): boolean {
  return name.length <= 40 && visibleName(name) === name && name.trim() === name
}
