import {
  createPublicLink,
  maxDailyMessages,
  maxGreetingLength,
  maxLinkNameLength,
  maxQuestionLength,
  maxStarterQuestions,
  type PublicLink,
  updatePublicLink,
} from '@roost/contracts/conversations/public-links'
import { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import {
  Form,
  FormError,
  NumberField,
  SwitchField,
  TextareaField,
  TextField,
  useZodForm,
} from '../../ui/form.tsx'
import { dayOf, endOfDay } from './last-day.ts'
import { linesOf } from './lines.ts'
import { publicLinksKey } from './queries.ts'

/** `link`: the link to edit, `new`, or null when closed. */
export type LinkDialogProps = { name: string; link: PublicLink | 'new' | null; onClose: () => void }

export function LinkDialog({ name, link, onClose }: LinkDialogProps) {
  const isNew = link === 'new'
  return (
    <Dialog
      open={link !== null}
      onOpenChange={onClose}
      title={isNew ? 'New public link' : 'Edit public link'}
      description="Anyone with this link can chat with the agent without an account."
    >
      {link !== null && <LinkForm name={name} link={isNew ? null : link} onClose={onClose} />}
    </Dialog>
  )
}

const LinkValues = z.object({
  name: z
    .string()
    .max(maxLinkNameLength, `The name must have at most ${maxLinkNameLength} characters.`)
    .nullable(),
  greeting: z
    .string()
    .max(maxGreetingLength, `The greeting must have at most ${maxGreetingLength} characters.`)
    .nullable(),
  starter_questions: z
    .string()
    .refine(
      (text) => linesOf(text).length <= maxStarterQuestions,
      `There can be at most ${maxStarterQuestions} questions.`,
    )
    .refine(
      (text) => linesOf(text).every((line) => line.length <= maxQuestionLength),
      `A question must have at most ${maxQuestionLength} characters.`,
    ),
  require_email: z.boolean(),
  day: z.string(),
  daily_message_limit: z
    .number()
    .int('The limit must be a whole number.')
    .min(1)
    .max(maxDailyMessages)
    .nullable(),
})

function LinkForm({ name, link, onClose }: { name: string; link: PublicLink | null; onClose: () => void }) {
  const { api, queries } = useApp()
  const day = dayOf(link?.expires_at ?? null)
  const form = useZodForm(LinkValues, {
    defaultValues: {
      name: link?.name ?? null,
      greeting: link?.greeting ?? null,
      starter_questions: (link?.starter_questions ?? []).join('\n'),
      require_email: link?.require_email ?? false,
      day,
      daily_message_limit: link?.daily_message_limit ?? null,
    },
  })
  async function save({
    day: chosen,
    starter_questions,
    ...values
  }: z.output<typeof LinkValues>): Promise<void> {
    // An unchanged day keeps its exact expiry.
    const expires_at = link && chosen === day ? link.expires_at : endOfDay(chosen)
    const body = { ...values, starter_questions: linesOf(starter_questions), expires_at }
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
        hint={`Where the link is used, for example “Website”. At most ${maxLinkNameLength} characters.`}
        emptyAs="null"
        autoFocus
      />
      <TextareaField
        name="greeting"
        label="Greeting"
        hint={`Visitors read it before their first message. Plain text, at most ${maxGreetingLength} characters.`}
        emptyAs="null"
        rows={2}
      />
      <TextareaField
        name="starter_questions"
        label="Starter questions"
        hint={`One per line, at most ${maxStarterQuestions}. Visitors send one with a click.`}
        rows={3}
      />
      <SwitchField
        name="require_email"
        label="Require e-mail address"
        hint="Visitors confirm their address with an e-mail code. This requires a mail server on this platform."
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField name="day" label="Last day" hint="Leave empty for no expiry" type="date" />
        <NumberField
          name="daily_message_limit"
          label="Daily message limit"
          hint="For all visitors together. Leave empty for no limit."
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
