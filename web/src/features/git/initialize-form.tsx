import { InitializeGit } from '@roost/contracts/agents/git-repository'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Form, FormError, SwitchField, TextField, useZodForm } from '../../ui/form.tsx'
import { useInitialize } from './binding-actions.ts'

/** Binds an agent to its first repository. */
export function InitializeForm({ name }: { name: string }) {
  const initialize = useInitialize(name)
  const form = useZodForm(InitializeGit, {
    defaultValues: { repo_owner: '', repo_name: name, create_repo: true, private: true, description: null },
  })
  return (
    <Card>
      <Form form={form} label="Repository for this agent" onSubmit={initialize}>
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            name="repo_owner"
            label="Account"
            hint="A user or an organization at the git host"
            mono
            required
            autoComplete="off"
            spellCheck={false}
          />
          <TextField
            name="repo_name"
            label="Repository"
            mono
            required
            autoComplete="off"
            spellCheck={false}
          />
        </div>
        <TextField name="description" label="Description" emptyAs="null" />
        <SwitchField name="create_repo" label="Create the repository if it does not exist" />
        <SwitchField name="private" label="Private" hint="Applies to a new repository" />
        <FormError />
        <div>
          <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
            Bind repository
          </Button>
        </div>
      </Form>
    </Card>
  )
}
