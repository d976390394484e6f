import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { useDelete } from './changes.ts'

type DeleteAgentDialogProps = {
  name: string
  open: boolean
  onOpenChange: (open: boolean) => void
  onDeleted: () => void
}

export function DeleteAgentDialog({ name, onDeleted, ...dialog }: DeleteAgentDialogProps) {
  const remove = useDelete(name)
  async function confirm(): Promise<void> {
    // The deletion event may unmount this page before the reply arrives; the promise still completes.
    await remove.mutateAsync()
    toast({ title: `${name} deleted.`, tone: 'success' })
    onDeleted()
  }
  return (
    <ConfirmDialog
      {...dialog}
      title={`Delete ${name}?`}
      description="Deletes the container, files and conversations of the agent. This cannot be undone."
      action="Delete agent"
      typed={name}
      pending={remove.isPending}
      // The mutation itself reports a failure.
      onConfirm={() => void confirm().catch(() => {})}
    />
  )
}
