import { shareAccesses } from '@roost/contracts/agents/agent'
import { shareAgent } from '@roost/contracts/agents/sharing'
import { EmailAddress } from '@roost/contracts/identity/users'
import { z } from 'zod'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Form, SelectField, TextField, useZodForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from '../agents/queries.ts'
import { accessOptions } from './access-options.ts'
import { accessKey } from './queries.ts'

const ShareBody = z.object({ email: EmailAddress, access: z.enum(shareAccesses) })

/** Shares the agent with an e-mail address, with or without an existing account. */
export function ShareForm({ name }: { name: string }) {
  const { api, queries } = useApp()
  const form = useZodForm(ShareBody, { defaultValues: { email: '', access: 'write' }, mode: 'onSubmit' })
  async function share({ email, access }: z.output<typeof ShareBody>): Promise<void> {
    const typed = form.getValues('email')
    try {
      await api.call(shareAgent, { params: { name }, body: { email, access } })
    } catch (error) {
      // Only the address can be refused.
      form.setError('email', { message: describeFault(error).sentence }, { shouldFocus: true })
      return
    }
    // A slow answer must not delete the next address.
    if (form.getValues('email') === typed) form.reset()
    toast({ title: `Shared with ${email}.`, tone: 'success' })
    await Promise.all([
      queries.invalidateQueries({ queryKey: accessKey(name) }),
      queries.invalidateQueries({ queryKey: agentKeys.details(name) }),
    ])
  }
  return (
    <Form form={form} onSubmit={share} label="Share this agent" className="gap-3">
      <div className="flex flex-wrap items-start gap-2">
        <TextField
          name="email"
          label="Share with"
          hint="An e-mail address. It is added to the sign-in allow list."
          type="email"
          autoComplete="off"
          placeholder="name@example.com"
          className="flex-1 basis-56"
        />
        <SelectField name="access" label="Files" options={accessOptions} />
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting} className="mt-6.5">
          Share
        </Button>
      </div>
    </Form>
  )
}
