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
  { value: 'clean', label: 'Only onto a clean workspace', hint: 'Refused when files are changed here.' },
  {
    value: 'stash_reapply',
    label: 'Keep what is changed here',
    hint: 'It is set aside, and put on top of what comes.',
  },
  {
    value: 'force_reset',
    label: 'Throw away what is changed here',
    hint: 'Changed files and commits that were not pushed are lost.',
  },
] as const

/** Brings what the remote has into the workspace. */
export function PullDialog({ name, isOpen, onClose }: PullDialogProps) {
  return (
    <Dialog
      open={isOpen}
      onOpenChange={onClose}
      title="Pull into the workspace"
      description="What the remote has comes into the workspace."
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
      <Field label="How">
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
