import { BindToOwnRepository } from '@roost/contracts/agents/git-repository'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, SwitchField, TextField, useZodForm } from '../../ui/form.tsx'
import { useBindToOwn } from './binding-actions.ts'

type RebindProps = { name: string; repository: string; isOpen: boolean; onClose: () => void }

/** Replaces the agent's repository with another one. */
export function RebindDialog({ isOpen, ...rest }: RebindProps) {
  return (
    <Dialog
      open={isOpen}
      onOpenChange={rest.onClose}
      title="Change repository"
      description={`Replaces ${rest.repository}, which is not changed. The history is copied.`}
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
      label="New repository"
      onSubmit={async (body) => {
        await bind(body)
        onClose()
      }}
    >
      <TextField
        name="destination_repo"
        label="Repository"
        hint="Created if it does not exist."
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
        hint="Becomes the agent’s own token. Leave empty to keep the current token."
        emptyAs="null"
        autoComplete="off"
      />
      <SwitchField name="private" label="Private" hint="Applies to a new repository" />
      <FormError />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Change repository
        </Button>
      </DialogButtons>
    </Form>
  )
}
