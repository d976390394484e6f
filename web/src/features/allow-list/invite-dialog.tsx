import { AddAllowListEntry, addAllowListEntry } from '@roost/contracts/identity/allow-list'
import { useWatch } from 'react-hook-form'
import type { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, SelectField, TextField, useZodForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { roleChoices, roleHint } from '../people/role-choices.ts'
import { allowListKey } from './queries.ts'

type InviteProps = { open: boolean; onOpenChange: (open: boolean) => void }

/** Adds an address to the allow list. The first sign-in creates the account. */
export function InviteDialog({ open, onOpenChange }: InviteProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Add user"
      description="The address can then sign in by e-mail. The first sign-in creates the account."
    >
      <InviteForm onDone={() => onOpenChange(false)} />
    </Dialog>
  )
}

function InviteForm({ onDone }: { onDone: () => void }) {
  const { api, queries } = useApp()
  const form = useZodForm(AddAllowListEntry, { defaultValues: { email: '', default_role: 'user' } })
  const role = useWatch({ control: form.control, name: 'default_role' }) ?? 'user'
  async function invite(body: z.output<typeof AddAllowListEntry>): Promise<void> {
    await api.call(addAllowListEntry, { body })
    void queries.invalidateQueries({ queryKey: allowListKey })
    toast({ title: `${body.email} can now sign in.`, tone: 'success' })
    onDone()
  }
  return (
    <Form form={form} onSubmit={invite}>
      <FormError />
      <TextField name="email" label="E-mail address" type="email" autoComplete="off" required autoFocus />
      <SelectField
        name="default_role"
        label="Role"
        options={roleChoices}
        hint={`${roleHint(role)}. You can change the role later.`}
      />
      <div className="text-muted text-xs">
        <p>Roost does not send an invitation. Ask the user to sign in at:</p>
        <p className="mt-1 flex items-center gap-1">
          <code className="min-w-0 break-all text-ink">{signInAddress()}</code>
          <CopyButton text={signInAddress()} label="Copy address" />
        </p>
      </div>
      <DialogButtons>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Add user
        </Button>
      </DialogButtons>
    </Form>
  )
}

function signInAddress(): string {
  return `${window.location.origin}/login?way=email`
}
