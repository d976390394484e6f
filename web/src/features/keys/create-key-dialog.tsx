import { CreateKey, createKey, type NewKey } from '@roost/contracts/identity/keys'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useController, useWatch } from 'react-hook-form'
import { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Form, FormError, SelectField, TextField, useZodForm } from '../../ui/form.tsx'
import { RadioCards } from '../../ui/radio-cards.tsx'
import { meQuery } from '../users/queries.ts'
import { endOf } from './key-rows.ts'
import { keysKey } from './queries.ts'
import { mayExpire, type RequestableScope, requestableScopes, scopeWords } from './scopes.ts'

type CreateKeyProps = { open: boolean; onOpenChange(open: boolean): void; onCreated(key: NewKey): void }

export function CreateKeyDialog({ open, onOpenChange, onCreated }: CreateKeyProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create MCP key"
      description="The key is shown once."
    >
      <CreateKeyForm onCreated={onCreated} onCancel={() => onOpenChange(false)} />
    </Dialog>
  )
}

const KeyForm = CreateKey.pick({ name: true, description: true })
  .extend({ scope: z.enum(requestableScopes), ends: z.string(), day: z.string() })
  .refine(({ scope, ends, day }) => !mayExpire(scope) || ends !== 'day' || isTodayOrLater(day), {
    path: ['day'],
    message: 'The last day must be today or later.',
  })

const scopeCards = requestableScopes.map((value) => ({
  value,
  label: scopeWords[value].label,
  hint: scopeWords[value].hint,
}))

const endChoices = [
  { value: 'never', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: 'day', label: 'On a specific day' },
]

function CreateKeyForm({ onCreated, onCancel }: Pick<CreateKeyProps, 'onCreated'> & { onCancel(): void }) {
  const { api, queries } = useApp()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const form = useZodForm(KeyForm, {
    defaultValues: { name: '', description: null, scope: 'user', ends: 'never', day: '' },
  })
  const [scope, ends] = useWatch({ control: form.control, name: ['scope', 'ends'] })
  async function create({ name, description, scope, ...end }: z.output<typeof KeyForm>): Promise<void> {
    const expires_at = mayExpire(scope) ? endOf(end, Date.now()) : null
    const key = await api.call(createKey, {
      body: { name, description, scope, ...(expires_at ? { expires_at } : {}) },
    })
    void queries.invalidateQueries({ queryKey: keysKey })
    onCreated(key)
  }
  return (
    <Form form={form} onSubmit={create}>
      <FormError />
      <TextField
        name="name"
        label="Name"
        hint="The program that uses the key, for example “CI”"
        required
        autoFocus
      />
      <TextField name="description" label="Description" emptyAs="null" />
      {/* Only admins can create keys of narrower scopes. */}
      {me.role === 'admin' ? <ScopeField /> : <p className="text-muted text-xs">{scopeWords.user.hint}</p>}
      {mayExpire(scope) && (
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField name="ends" label="Expires" options={endChoices} />
          {ends === 'day' && <TextField name="day" label="Last day" type="date" required />}
        </div>
      )}
      <DialogButtons>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Create key
        </Button>
      </DialogButtons>
    </Form>
  )
}

function ScopeField() {
  const { field } = useController<{ scope: RequestableScope }, 'scope'>({ name: 'scope' })
  return (
    <Field label="Scope">
      <RadioCards options={scopeCards} value={field.value} onValueChange={field.onChange} />
    </Field>
  )
}

function isTodayOrLater(day: string): boolean {
  return new Date(`${day}T23:59:59`).getTime() > Date.now()
}
