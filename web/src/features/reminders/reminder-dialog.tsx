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
      title="Create reminder"
      description="Sends the message to the agent once."
    >
      <ReminderForm name={name} onDone={onClose} />
    </Dialog>
  )
}

/** The local time, as the browser's date field returns it. */
const ReminderFields = z.object({
  message: CreateReminder.shape.message,
  fire_at: z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'Enter a date and a time.'),
})

function ReminderForm({ name, onDone }: { name: string; onDone: () => void }) {
  const { api, queries } = useApp()
  const form = useZodForm(ReminderFields, { defaultValues: { message: '', fire_at: '' } })
  return (
    <Form
      form={form}
      label="Reminder"
      onSubmit={async ({ message, fire_at }) => {
        const body = { message, fire_at: new Date(fire_at).toISOString() }
        await api.call(createReminder, { params: { name }, body })
        void queries.invalidateQueries({ queryKey: reminderKeys.ofAgent(name) })
        toast({ title: 'Reminder created.', tone: 'success' })
        onDone()
      }}
    >
      <TextareaField name="message" label="Message" rows={3} required autoFocus maxLength={4000} />
      <TextField
        name="fire_at"
        label="Time"
        type="datetime-local"
        required
        hint="In your time zone, from 1 minute to 30 days from now."
      />
      <FormError />
      <DialogButtons>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Create reminder
        </Button>
      </DialogButtons>
    </Form>
  )
}
