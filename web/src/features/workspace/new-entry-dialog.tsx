import { z } from 'zod'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'
import { isProtected, joinPath, nameFault, nameOf, type Place, parentOf, visibleName } from './paths.ts'
import { namesIn } from './queries.ts'

export type NewEntryDialogProps = {
  agentName: string
  folder: string
  /** The kind of entry to create; null keeps the dialog closed. */
  kind: Place['kind'] | null
  onClose: () => void
  create: (place: Place) => Promise<void>
  onCreated: (place: Place) => void
}

export function NewEntryDialog(props: NewEntryDialogProps) {
  const { kind, folder, onClose } = props
  const where = folder === '' ? 'the workspace' : `“${visibleName(folder)}”`
  return (
    <Dialog
      open={kind !== null}
      onOpenChange={(open) => !open && onClose()}
      size="sm"
      title={kind === 'folder' ? 'New folder' : 'New file'}
      description={`Created in ${where}. Use slashes to create parent folders as well.`}
    >
      {kind && <NewEntryForm {...props} kind={kind} />}
    </Dialog>
  )
}

const Entry = z.object({
  name: z.string().superRefine((name, context) => {
    const message = nameFault(name)
    if (message !== null) context.addIssue({ code: 'custom', message })
  }),
})

type NewEntryFormProps = NewEntryDialogProps & { kind: Place['kind'] }

function NewEntryForm({ agentName, folder, kind, onClose, create, onCreated }: NewEntryFormProps) {
  const api = useApi()
  const form = useZodForm(Entry, { defaultValues: { name: '' } })
  return (
    <Form
      form={form}
      onSubmit={async ({ name }) => {
        const path = joinPath(folder, name)
        const fault = isProtected(path)
          ? 'This name is reserved for git, the credentials or the platform.'
          : (await namesIn(api, agentName, parentOf(path))).has(nameOf(path))
            ? 'An entry with this name already exists.'
            : null
        if (fault !== null) return form.setError('name', { message: fault }, { shouldFocus: true })
        await create({ kind, path })
        onCreated({ kind, path })
      }}
    >
      <FormError />
      <TextField
        name="name"
        label="Name"
        placeholder={kind === 'folder' ? 'notes' : 'notes/today.md'}
        autoComplete="off"
        spellCheck={false}
        mono
        autoFocus
      />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Create
        </Button>
      </DialogButtons>
    </Form>
  )
}
