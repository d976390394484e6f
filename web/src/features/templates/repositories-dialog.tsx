import { putTemplateRepositories, TemplateRepositories } from '@roost/contracts/foundation/platform-settings'
import { useQuery } from '@tanstack/react-query'
import { useController } from 'react-hook-form'
import { useApi, useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Field } from '../../ui/field.tsx'
import { Form, FormError, useZodForm } from '../../ui/form.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { TagInput } from '../../ui/tag-input.tsx'
import { toast } from '../../ui/toast.tsx'
import { repositoriesQuery, templateKeys } from './queries.ts'
import { repositoryOf } from './template-address.ts'

type RepositoriesProps = { open: boolean; onClose: () => void }

/** The repositories in everyone's template list, configured by admins. */
export function RepositoriesDialog({ open, onClose }: RepositoriesProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onClose}
      title="Template repositories"
      description="Shown to all users who can create agents, in this order."
    >
      {open && <Repositories onClose={onClose} />}
    </Dialog>
  )
}

function Repositories({ onClose }: { onClose: () => void }) {
  const repositories = useQuery(repositoriesQuery(useApi()))
  if (repositories.data) return <RepositoriesForm stored={repositories.data} onClose={onClose} />
  if (!repositories.error) return <Skeleton className="h-24" />
  return <ErrorState error={repositories.error} onRetry={() => void repositories.refetch()} />
}

function RepositoriesForm({ stored, onClose }: { stored: string[]; onClose: () => void }) {
  const { api, queries } = useApp()
  const form = useZodForm(TemplateRepositories, { defaultValues: { repositories: stored } })
  return (
    <Form
      form={form}
      onSubmit={async (body) => {
        const saved = await api.call(putTemplateRepositories, { body })
        queries.setQueryData(templateKeys.repositories, saved.repositories)
        // A first list that is still on its way is from before, and would count as the new one.
        await queries.cancelQueries({ queryKey: templateKeys.all })
        await queries.invalidateQueries({ queryKey: templateKeys.all })
        toast({ title: 'Template repositories saved.', tone: 'success' })
        onClose()
      }}
    >
      <RepositoriesField />
      <FormError />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Save
        </Button>
      </DialogButtons>
    </Form>
  )
}

function RepositoriesField() {
  const { field, fieldState } = useController<{ repositories: string[] }, 'repositories'>({
    name: 'repositories',
  })
  return (
    <Field
      label="Repositories"
      hint="Enter each as owner/repository or as its URL. Press Enter to add it."
      error={fieldState.error?.message ?? null}
    >
      <TagInput
        value={field.value}
        onValueChange={field.onChange}
        onBlur={field.onBlur}
        accept={repositoryOf}
        placeholder="owner/repository"
      />
    </Field>
  )
}
