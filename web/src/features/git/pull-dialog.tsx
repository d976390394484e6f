import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { RadioCards } from '../../ui/radio-cards.tsx'
import { type PullBody, usePull } from './actions.ts'
import { GitFault } from './git-fault.tsx'

type PullDialogProps = { name: string; isOpen: boolean; onClose: () => void }
type Strategy = NonNullable<PullBody['strategy']>

const strategies = [
  {
    value: 'clean',
    label: 'Only into a clean workspace',
    hint: 'Fails when the workspace has uncommitted changes.',
  },
  {
    value: 'stash_reapply',
    label: 'Keep local changes',
    hint: 'Stashes local changes and applies them on top of the remote commits.',
  },
  {
    value: 'force_reset',
    label: 'Discard local changes',
    hint: 'Uncommitted changes and unpushed commits are lost.',
  },
] as const

/** Pulls from the remote into the workspace. */
export function PullDialog({ name, isOpen, onClose }: PullDialogProps) {
  return (
    <Dialog
      open={isOpen}
      onOpenChange={onClose}
      title="Pull into workspace"
      description="Brings the remote commits into the workspace."
    >
      {isOpen && <PullForm name={name} onClose={onClose} />}
    </Dialog>
  )
}

function PullForm({ name, onClose }: Omit<PullDialogProps, 'isOpen'>) {
  const [strategy, setStrategy] = useState<Strategy>('clean')
  const pull = usePull(name)
  return (
    <div className="flex flex-col gap-4">
      <Field label="Local changes">
        <RadioCards options={strategies} value={strategy} onValueChange={setStrategy} />
      </Field>
      <GitFault error={pull.error} />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant={strategy === 'force_reset' ? 'danger' : 'primary'}
          pending={pull.isPending}
          onClick={() => pull.mutate({ strategy }, { onSuccess: onClose })}
        >
          Pull
        </Button>
      </DialogButtons>
    </div>
  )
}
