import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useReset } from './binding-actions.ts'
import { GitFault } from './git-fault.tsx'

type ResetProps = { name: string; branch: string; isOpen: boolean; onClose: () => void }

/** The way back to the source branch. */
export function ResetDialog({ name, branch, isOpen, onClose }: ResetProps) {
  const reset = useReset(name, onClose)
  return (
    <ConfirmDialog
      open={isOpen}
      onOpenChange={() => {
        reset.reset()
        onClose()
      }}
      title={`Reset the workspace to ${branch}?`}
      description="Files become those of the source branch, and the working branch is pushed by force. What the agent made stays: content, output, reports, exports, uploads, memory, metrics.json, and what is never committed. Whatever else was changed is kept in a folder of the workspace."
      action="Reset the workspace"
      typed={name}
      pending={reset.isPending}
      onConfirm={() => reset.mutate()}
    >
      <GitFault error={reset.error} />
    </ConfirmDialog>
  )
}
