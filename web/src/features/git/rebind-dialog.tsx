import { BindToOwnRepository } from '@roost/contracts/agents/git-repository'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, SwitchField, TextField, useZodForm } from '../../ui/form.tsx'
import { useBindToOwn } from './binding-actions.ts'

type RebindProps = { name: string; repository: string; isOpen: boolean; onClose: () => void }

/** Another repository in place of the one that the agent has. */
export function RebindDialog({ isOpen, ...rest }: RebindProps) {
  return (
    <Dialog
      open={isOpen}
      onOpenChange={rest.onClose}
      title="A repository of its own"
      description={`In place of ${rest.repository}, which stays as it is. Its history comes along.`}
    >
      <RebindForm {...rest} />
    </Dialog>
  )
}

function RebindForm({ name, onClose }: Omit<RebindProps, 'isOpen'>) {
  const bind = useBindToOwn(name)
  const form = useZodForm(BindToOwnRepository, {
    defaultValues: { destination_repo: '', github_pat: null, private: true },
  })
  return (
    <Form
      form={form}
      label="Another repository"
      onSubmit={async (body) => {
        await bind(body)
        onClose()
      }}
    >
      <TextField
        name="destination_repo"
        label="Repository"
        hint="It is created if it does not exist."
        placeholder="owner/repository"
        mono
        required
        autoFocus
        autoComplete="off"
        spellCheck={false}
      />
      <TextField
        name="github_pat"
        label="Token"
        type="password"
        hint="Becomes the agent’s own; left empty, the one in use is used."
        emptyAs="null"
        autoComplete="off"
      />
      <SwitchField name="private" label="Private" hint="Once it is created" />
      <FormError />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Bind it
        </Button>
      </DialogButtons>
    </Form>
  )
}
