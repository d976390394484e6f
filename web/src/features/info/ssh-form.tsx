import { GrantSshAccess, grantSshAccess, type SshAccess } from '@roost/contracts/agents/settings'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Form, FormError, NumberField, TextareaField, useZodForm } from '../../ui/form.tsx'

export type SshFormProps = {
  agentName: string
  onCancel: () => void
  onGranted: (access: SshAccess) => void
}

export function SshForm({ agentName, onCancel, onGranted }: SshFormProps) {
  const api = useApi()
  const form = useZodForm(GrantSshAccess, { defaultValues: { ttl_hours: 4, public_key: null } })
  return (
    <Form
      form={form}
      onSubmit={async (body) =>
        onGranted(await api.call(grantSshAccess, { params: { name: agentName }, body }))
      }
    >
      <NumberField name="ttl_hours" label="Valid for" unit="hours" min={0.1} max={24} step="any" required />
      <TextareaField
        name="public_key"
        label="Public key"
        hint="A line such as “ssh-ed25519 AAAA…”. Leave empty to create a key pair; its private key is shown once."
        emptyAs="null"
        rows={3}
        mono
        spellCheck={false}
      />
      <FormError />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Grant access
        </Button>
      </div>
    </Form>
  )
}
