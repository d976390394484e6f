import { CreateReminder, createReminder } from '@roost/contracts/triggers/reminders'
import { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, TextareaField, TextField, useZodForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { reminderKeys } from './queries.ts'

type ReminderDialogProps = { name: string; isOpen: boolean; onClose: () => void }

export function ReminderDialog({ name, isOpen, onClose }: ReminderDialogProps) {
  return (
    <Dialog
      open={isOpen}
      onOpenChange={onClose}
      title="Set a reminder"
      description="The agent is sent the message once."
    >
      <ReminderForm name={name} onDone={onClose} />
    </Dialog>
  )
}

/** The time is that of the person's own clock, as the field of the browser gives it. */
const ReminderFields = z.object({
  message: CreateReminder.shape.message,
  fire_at: z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'Choose a day and a time.'),
})

function ReminderForm({ name, onDone }: { name: string; onDone: () => void }) {
  const { api, queries } = useApp()
  const form = useZodForm(ReminderFields, { defaultValues: { message: '', fire_at: '' } })
  return (
    <Form
      form={form}
      label="A reminder"
      onSubmit={async ({ message, fire_at }) => {
        const body = { message, fire_at: new Date(fire_at).toISOString() }
        await api.call(createReminder, { params: { name }, body })
        void queries.invalidateQueries({ queryKey: reminderKeys.ofAgent(name) })
        toast({ title: 'The reminder is set.', tone: 'success' })
        onDone()
      }}
    >
      <TextareaField name="message" label="Message" rows={3} required autoFocus maxLength={4000} />
      <TextField
        name="fire_at"
        label="When"
        type="datetime-local"
        required
        hint="On your clock; a minute to 30 days ahead."
      />
      <FormError />
      <DialogButtons>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Set it
        </Button>
      </DialogButtons>
    </Form>
  )
}
