import { z } from 'zod'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, TextField, useZodForm } from '../../ui/form.tsx'
import { repositoryOf, templateNameOf } from './template-address.ts'

type FromRepositoryProps = { open: boolean; onClose: () => void; onUse: (template: string) => void }

/** A template by its address, whether it is on the list or not. */
export function FromRepositoryDialog({ open, onClose, onUse }: FromRepositoryProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onClose}
      title="An agent from a repository"
      description="Its template.yaml says what the agent is; its files become the workspace. A private one needs your git token, or the platform’s."
    >
      <RepositoryForm onClose={onClose} onUse={onUse} />
    </Dialog>
  )
}

const Address = z.object({
  repository: z
    .string()
    .refine((text) => repositoryOf(text) !== null, 'Give it as owner/repository, or its address.'),
  branch: z.string(),
})

function RepositoryForm({ onClose, onUse }: Omit<FromRepositoryProps, 'open'>) {
  const form = useZodForm(Address, { defaultValues: { repository: '', branch: '' } })
  return (
    <Form
      form={form}
      label="A repository"
      onSubmit={({ repository, branch }) => {
        onClose()
        onUse(templateNameOf(repositoryOf(repository) ?? repository, branch))
      }}
    >
      <TextField
        name="repository"
        label="Repository"
        placeholder="owner/repository"
        mono
        required
        autoFocus
        autoComplete="off"
        spellCheck={false}
      />
      <TextField
        name="branch"
        label="Branch"
        hint="Left empty: the one that the host shows first"
        mono
        autoComplete="off"
        spellCheck={false}
      />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary">
          Continue
        </Button>
      </DialogButtons>
    </Form>
  )
}
