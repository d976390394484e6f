import { z } from 'zod'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, TextField, useZodForm } from '../../ui/form.tsx'
import { repositoryOf, templateNameOf } from './template-address.ts'

type FromRepositoryProps = { open: boolean; onClose: () => void; onUse: (template: string) => void }

/** Uses a template by repository, listed or not. */
export function FromRepositoryDialog({ open, onClose, onUse }: FromRepositoryProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onClose}
      title="Create agent from a repository"
      description="The repository’s template.yaml describes the agent, and its files become the workspace. A private repository requires your git token or the platform’s."
    >
      <RepositoryForm onClose={onClose} onUse={onUse} />
    </Dialog>
  )
}

const Address = z.object({
  repository: z
    .string()
    .refine((text) => repositoryOf(text) !== null, 'Enter the repository as owner/repository or as its URL.'),
  branch: z.string(),
})

function RepositoryForm({ onClose, onUse }: Omit<FromRepositoryProps, 'open'>) {
  const form = useZodForm(Address, { defaultValues: { repository: '', branch: '' } })
  return (
    <Form
      form={form}
      label="Repository"
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
        hint="Leave empty for the default branch"
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
