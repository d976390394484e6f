import { type CallBinding, CallBindingBody, putCallBinding } from '@roost/contracts/conversations/calls'
import type { z } from 'zod'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Form, FormError, NumberField, TextField, useZodForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { callKeys } from './queries.ts'

type AccountFormProps = { name: string; binding: CallBinding; onDone(): void }

/** The Twilio account of an agent. The auth token must be entered again for each change. */
export function AccountForm({ name, binding, onDone }: AccountFormProps) {
  const { api, queries } = useApp()
  const form = useZodForm(CallBindingBody, {
    defaultValues: {
      account_sid: binding.account_sid ?? '',
      auth_token: '',
      from_number: binding.from_number ?? '',
      daily_call_cap: binding.daily_call_cap ?? 20,
      display_name: binding.display_name,
    },
  })
  async function save(body: z.output<typeof CallBindingBody>): Promise<void> {
    const now = await api.call(putCallBinding, { params: { name }, body })
    await storeReply(queries, callKeys.binding(name), now)
    toast({ title: `Telephone calls set up. ${name} calls from ${now.from_number}.`, tone: 'success' })
    onDone()
  }
  return (
    <Form form={form} onSubmit={save}>
      <FormError />
      <TextField
        name="account_sid"
        label="Account SID"
        hint="“AC” and 32 characters, shown on the start page of the Twilio console"
        autoComplete="off"
        autoFocus
        required
      />
      <TextField name="auth_token" label="Auth token" type="password" autoComplete="off" required />
      <TextField
        name="from_number"
        label="Caller number"
        hint="A telephone number of this account, for example +15550123456"
        autoComplete="off"
        inputMode="tel"
        required
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          name="daily_call_cap"
          label="Daily call limit"
          hint="1 to 500 calls per UTC day"
          min={1}
          max={500}
        />
        <TextField
          name="display_name"
          label="Caller name"
          hint={`Leave empty to use “${name}”`}
          autoComplete="off"
          emptyAs="null"
        />
      </div>
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Verify and save
        </Button>
      </div>
    </Form>
  )
}
