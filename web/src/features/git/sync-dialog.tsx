import { useId, useState } from 'react'
import { plural } from '../../lib/format.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Textarea } from '../../ui/input.tsx'
import { RadioCards } from '../../ui/radio-cards.tsx'
import { type SyncBody, useSync } from './actions.ts'
import { GitFault } from './git-fault.tsx'

type SyncDialogProps = {
  name: string
  isOpen: boolean
  /** Null until known. */
  changes: readonly string[] | null
  onClose: () => void
}
type Strategy = NonNullable<SyncBody['strategy']>

const strategies = [
  {
    value: 'normal',
    label: 'Push',
    hint: 'Fails when the remote has commits that are not in the workspace.',
  },
  {
    value: 'pull_first',
    label: 'Pull first, then push',
    hint: 'Applies local commits on top of the remote commits.',
  },
  {
    value: 'force_push',
    label: 'Force push',
    hint: 'Remote commits of the working branch that are not in the workspace are lost.',
  },
] as const

/** Commits changes and pushes them to the working branch. */
export function SyncDialog({ isOpen, onClose, ...rest }: SyncDialogProps) {
  return (
    <Dialog
      open={isOpen}
      onOpenChange={onClose}
      title="Sync workspace"
      description="Commits changes and pushes them to the working branch."
    >
      {isOpen && <SyncForm {...rest} onClose={onClose} />}
    </Dialog>
  )
}

function SyncForm({ name, changes, onClose }: Omit<SyncDialogProps, 'isOpen'>) {
  const [message, setMessage] = useState('')
  const [strategy, setStrategy] = useState<Strategy>('normal')
  const sync = useSync(name)
  const formId = useId()
  return (
    <form
      id={formId}
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (sync.isPending) return
        sync.mutate({ message: message.trim() || null, strategy }, { onSuccess: onClose })
      }}
    >
      {changes !== null && (
        <p className="text-muted text-sm">
          {changes.length === 0 ? 'No uncommitted changes.' : `${plural(changes.length, 'file')} changed.`}
        </p>
      )}
      <Field label="Commit message" hint={`Leave empty to use “Sync of ${name}”`}>
        <Textarea
          rows={2}
          maxLength={2000}
          value={message}
          onChange={(event) => setMessage(event.target.value)}
        />
      </Field>
      <Field label="Method">
        <RadioCards options={strategies} value={strategy} onValueChange={setStrategy} />
      </Field>
      {strategy === 'force_push' && (
        <Banner tone="warning">Commits that others pushed to the working branch are overwritten.</Banner>
      )}
      <GitFault error={sync.error} />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          variant={strategy === 'force_push' ? 'danger' : 'primary'}
          pending={sync.isPending}
        >
          Sync
        </Button>
      </DialogButtons>
    </form>
  )
}
