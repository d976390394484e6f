import { CreateKey, createKey, type NewKey } from '@roost/contracts/identity/keys'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, FormError, SelectField, TextField, useZodForm } from '../../ui/form.tsx'
import { meQuery } from '../users/queries.ts'
import { keysKey } from './queries.ts'

const scopes = [
  { value: 'user', label: 'user', hint: 'Everything you may do, except what needs you in person' },
  { value: 'ops', label: 'ops', hint: 'Reads for monitoring: fleet, health, executions, costs' },
  {
    value: 'portal_delegate',
    label: 'portal_delegate',
    hint: 'Exchanges an e-mail address for a Workspace session, nothing else',
  },
]

type CreateKeyProps = { open: boolean; onOpenChange(open: boolean): void; onMinted(key: NewKey): void }

export function CreateKeyDialog({ open, onOpenChange, onMinted }: CreateKeyProps) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Mint a key" description="It is shown once.">
      <CreateKeyForm onMinted={onMinted} onCancel={() => onOpenChange(false)} />
    </Dialog>
  )
}

function CreateKeyForm({ onMinted, onCancel }: Pick<CreateKeyProps, 'onMinted'> & { onCancel(): void }) {
  const { api, queries } = useApp()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const form = useZodForm(CreateKey, { defaultValues: { name: '', description: null, scope: 'user' } })
  return (
    <Form
      form={form}
      onSubmit={async (body) => {
        const key = await api.call(createKey, { body })
        await queries.invalidateQueries({ queryKey: keysKey })
        onMinted(key)
      }}
    >
      <FormError />
      <TextField name="name" label="Name" hint="What uses it, such as “CI”" required autoFocus />
      <TextField name="description" label="Description" emptyAs="null" />
      {/* The narrower scopes are an admin's to mint. */}
      {me.role === 'admin' ? <SelectField name="scope" label="Scope" options={scopes} /> : null}
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Mint the key
        </Button>
      </div>
    </Form>
  )
}
