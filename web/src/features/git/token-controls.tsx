import { SetGitToken } from '@roost/contracts/identity/git-token'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'

type Words = { title: string; description: string }

type TokenControlsProps = {
  /** Describes the token in use. */
  state: string
  /** A token is set that can be replaced and deleted. */
  isSet: boolean
  setLabel: string
  setting: Words & { action: string }
  deletion: Words
  /** Throws the error for the form. */
  onSet: (body: { pat: string }) => Promise<void>
  onDelete: () => Promise<void>
}

/** Sets and deletes a token for the git host. The token is never shown. */
export function TokenControls(props: TokenControlsProps) {
  const { state, isSet, setLabel, setting, deletion, onSet, onDelete } = props
  const [open, setOpen] = useState<'set' | 'forget' | null>(null)
  const close = () => setOpen(null)
  const remove = useMutation({
    mutationFn: onDelete,
    onSuccess: close,
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
  })
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="min-w-0 flex-1 basis-56 text-sm">{state}</p>
        <Button size="sm" onClick={() => setOpen('set')}>
          {isSet ? 'Replace token' : setLabel}
        </Button>
        {isSet && (
          <Button size="sm" variant="ghost" onClick={() => setOpen('forget')}>
            Delete…
          </Button>
        )}
      </div>
      <Dialog
        open={open === 'set'}
        onOpenChange={close}
        title={setting.title}
        description={setting.description}
      >
        <TokenForm action={setting.action} onSet={onSet} onDone={close} />
      </Dialog>
      <ConfirmDialog
        open={open === 'forget'}
        onOpenChange={close}
        title={deletion.title}
        description={deletion.description}
        action="Delete token"
        pending={remove.isPending}
        onConfirm={() => remove.mutate()}
      />
    </>
  )
}

type TokenFormProps = Pick<TokenControlsProps, 'onSet'> & { action: string; onDone: () => void }

function TokenForm({ action, onSet, onDone }: TokenFormProps) {
  const form = useZodForm(SetGitToken, { defaultValues: { pat: '' } })
  return (
    <Form
      form={form}
      label="Token"
      onSubmit={async (body) => {
        await onSet(body)
        onDone()
      }}
    >
      <TextField name="pat" label="Token" type="password" required autoFocus autoComplete="off" />
      <FormError />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          {action}
        </Button>
      </div>
    </Form>
  )
}
