import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useReset } from './binding-actions.ts'
import { GitFault } from './git-fault.tsx'

type ResetProps = { name: string; branch: string; isOpen: boolean; onClose: () => void }

/** Resets the workspace to the source branch. */
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
      description="Replaces all files with those of the source branch and force-pushes the working branch. Preserved: content, output, reports, exports, uploads, memory, metrics.json and ignored files. Other changed files are moved to a folder in the workspace."
      action="Reset workspace"
      typed={name}
      pending={reset.isPending}
      onConfirm={() => reset.mutate()}
    >
      <GitFault error={reset.error} />
    </ConfirmDialog>
  )
}
