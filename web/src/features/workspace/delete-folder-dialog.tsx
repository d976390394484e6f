import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { nameOf, visibleName } from './paths.ts'

export type DeleteFolderDialogProps = {
  /** Null keeps the dialog closed. */
  path: string | null
  isPending: boolean
  onClose: () => void
  onConfirm: (path: string) => void
}

/** Deleting a folder deletes all of its content permanently, so its name must be typed. */
export function DeleteFolderDialog({ path, isPending, onClose, onConfirm }: DeleteFolderDialogProps) {
  const name = nameOf(path ?? '')
  return (
    <ConfirmDialog
      open={path !== null}
      onOpenChange={(open) => !open && onClose()}
      title={`Delete “${visibleName(name)}”?`}
      description="Deletes the folder with all of its content. This cannot be undone."
      action="Delete folder"
      typed={isTypable(name) ? name : 'delete'}
      pending={isPending}
      onConfirm={() => path !== null && onConfirm(path)}
    />
  )
}

/** Long names, and names with invisible characters, cannot be typed. */
function isTypable(name: string): boolean {
  return name.length <= 40 && visibleName(name) === name && name.trim() === name
}
