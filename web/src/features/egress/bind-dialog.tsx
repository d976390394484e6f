import {
  CredentialHost,
  type EgressCredential,
  mostCredentialHosts,
  PutEgressCredential,
} from '@roost/contracts/agents/egress'
import { useController } from 'react-hook-form'
import { z } from 'zod'
import { atField } from '../../lib/at-field.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Form, FormError, SwitchField, TextField, useZodForm } from '../../ui/form.tsx'
import { TagInput } from '../../ui/tag-input.tsx'
import { useBind } from './actions.ts'

type BindDialogProps = { name: string; editing: EgressCredential | 'new' | null; onClose: () => void }

export function BindDialog({ name, editing, onClose }: BindDialogProps) {
  return (
    <Dialog
      open={editing !== null}
      onOpenChange={onClose}
      title={editing === 'new' || editing === null ? 'Bind a credential' : `Edit ${editing.name}`}
      description="The platform stores the value and never shows it again."
    >
      {editing !== null && (
        <BindForm name={name} stored={editing === 'new' ? null : editing} onClose={onClose} />
      )}
    </Dialog>
  )
}

const Binding = PutEgressCredential.omit({ places: true }).extend({
  variable: z
    .string()
    .regex(
      /^[A-Za-z_][A-Za-z0-9_]*$/,
      'The variable may contain letters, digits and underscores, and must not start with a digit.',
    ),
  inQuery: z.boolean(),
})

function BindForm({
  name,
  stored,
  onClose,
}: {
  name: string
  stored: EgressCredential | null
  onClose: () => void
}) {
  const bind = useBind(name)
  const form = useZodForm(Binding, {
    defaultValues: {
      variable: stored?.name ?? '',
      hosts: stored?.hosts ?? [],
      inQuery: stored?.places.includes('query') ?? false,
    },
  })
  async function save({ variable, inQuery, ...body }: z.output<typeof Binding>): Promise<void> {
    try {
      await bind(variable, { ...body, places: inQuery ? ['header', 'query'] : ['header'] })
    } catch (error) {
      throw atField(error, { conflict: 'variable' })
    }
    onClose()
  }
  return (
    <Form form={form} onSubmit={save} label="Bound credential">
      <TextField
        name="variable"
        label="Variable"
        placeholder="LEDGER_TOKEN"
        mono
        required
        readOnly={stored !== null}
        autoFocus={stored === null}
        autoComplete="off"
        spellCheck={false}
      />
      <TextField
        name="value"
        label="Value"
        type="password"
        emptyAs="undefined"
        hint={
          stored?.has_value
            ? 'Leave empty to keep the stored value'
            : 'At least 8 characters, without line breaks'
        }
        autoComplete="off"
      />
      <HostsField />
      <SwitchField
        name="inQuery"
        label="Also replace in URL queries"
        hint="Headers are always replaced. URLs appear in logs more often."
      />
      <FormError />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          {stored === null ? 'Bind credential' : 'Save'}
        </Button>
      </DialogButtons>
    </Form>
  )
}

function HostsField() {
  const { field, fieldState } = useController<{ hosts: string[] }, 'hosts'>({ name: 'hosts' })
  return (
    <Field
      label="Hosts"
      required
      hint={`Hosts that receive the value, for example api.example.com or api.example.com:8443. At most ${mostCredentialHosts}.`}
      error={fieldState.error?.message ?? null}
    >
      <TagInput
        value={field.value}
        onValueChange={field.onChange}
        onBlur={field.onBlur}
        accept={(text) => {
          const parsed = CredentialHost.safeParse(text)
          return parsed.success ? parsed.data : null
        }}
        placeholder="api.example.com"
      />
    </Field>
  )
}
