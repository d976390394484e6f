import {
  createPublicLink,
  maxDailyMessages,
  maxLinkNameLength,
  type PublicLink,
  updatePublicLink,
} from '@roost/contracts/conversations/public-links'
import { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, NumberField, SwitchField, TextField, useZodForm } from '../../ui/form.tsx'
import { dayOf, endOfDay } from './last-day.ts'
import { publicLinksKey } from './queries.ts'

/** `link`: the one to change, `new`, or null while nothing is asked. */
export type LinkDialogProps = { name: string; link: PublicLink | 'new' | null; onClose: () => void }

export function LinkDialog({ name, link, onClose }: LinkDialogProps) {
  const isNew = link === 'new'
  return (
    <Dialog
      open={link !== null}
      onOpenChange={onClose}
      title={isNew ? 'New public link' : 'Change the link'}
      description="Whoever has its address can talk with this agent, without an account."
    >
      {link !== null && <LinkForm name={name} link={isNew ? null : link} onClose={onClose} />}
    </Dialog>
  )
}

const LinkValues = z.object({
  name: z.string().max(maxLinkNameLength, `At most ${maxLinkNameLength} characters.`).nullable(),
  require_email: z.boolean(),
  day: z.string(),
  daily_message_limit: z.number().int('A whole number.').min(1).max(maxDailyMessages).nullable(),
})

function LinkForm({ name, link, onClose }: { name: string; link: PublicLink | null; onClose: () => void }) {
  const { api, queries } = useApp()
  const day = dayOf(link?.expires_at ?? null)
  const form = useZodForm(LinkValues, {
    defaultValues: {
      name: link?.name ?? null,
      require_email: link?.require_email ?? false,
      day,
      daily_message_limit: link?.daily_message_limit ?? null,
    },
  })
  async function save({ day: chosen, ...values }: z.output<typeof LinkValues>): Promise<void> {
    // A day that was not touched keeps its exact end.
    const expires_at = link && chosen === day ? link.expires_at : endOfDay(chosen)
    const body = { ...values, expires_at }
    if (link) await api.call(updatePublicLink, { params: { name, id: link.id }, body })
    else await api.call(createPublicLink, { params: { name }, body })
    await queries.invalidateQueries({ queryKey: publicLinksKey(name) })
    onClose()
  }
  return (
    <Form form={form} onSubmit={save}>
      <FormError />
      <TextField
        name="name"
        label="Name"
        hint="Where it stands, such as “Website”"
        emptyAs="null"
        autoFocus
      />
      <SwitchField
        name="require_email"
        label="Ask for an e-mail address"
        hint="People confirm it with a code from a mail. Without mail on this platform nobody gets in."
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField name="day" label="Last day" hint="Empty: until you end it" type="date" />
        <NumberField
          name="daily_message_limit"
          label="Messages a day"
          hint="Of all people together; empty: any number"
          emptyAs="null"
          min={1}
          max={maxDailyMessages}
        />
      </div>
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          {link ? 'Save' : 'Create link'}
        </Button>
      </DialogButtons>
    </Form>
  )
}
