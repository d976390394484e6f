import { EmitEvent, emitAgentEvent } from '@roost/contracts/triggers/events'
import { z } from 'zod'
import { atField } from '../../lib/at-field.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, TextareaField, TextField, useZodForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { fieldOfCode } from './actions.ts'
import { eventKeys } from './queries.ts'

type EmitDialogProps = { name: string; isOpen: boolean; onClose: () => void }

/** Emits a test event on behalf of the agent. */
export function EmitDialog({ name, isOpen, onClose }: EmitDialogProps) {
  return (
    <Dialog
      open={isOpen}
      onOpenChange={onClose}
      title={`Emit event as ${name}`}
      description="Every subscribed agent starts a run."
    >
      <EmitForm name={name} onDone={onClose} />
    </Dialog>
  )
}

const EmitFields = EmitEvent.pick({ event_type: true }).extend({
  payload: z.string().refine(isObject, 'The payload must be empty or a JSON object.'),
})

function EmitForm({ name, onDone }: { name: string; onDone: () => void }) {
  const { api, queries } = useApp()
  const form = useZodForm(EmitFields, { defaultValues: { event_type: '', payload: '' } })
  return (
    <Form
      form={form}
      label="Event"
      onSubmit={async ({ event_type, payload }) => {
        const body = { event_type, payload: payload.trim() === '' ? null : JSON.parse(payload) }
        try {
          const event = await api.call(emitAgentEvent, { params: { name }, body })
          const words = plural(event.subscriptions_triggered, 'agent')
          toast({ title: `${event_type} emitted. It triggers ${words}.`, tone: 'success' })
        } catch (error) {
          throw atField(error, fieldOfCode)
        }
        void queries.invalidateQueries({ queryKey: eventKeys.ofAgent(name) })
        onDone()
      }}
    >
      <TextField
        name="event_type"
        label="Event"
        placeholder="tests.failed"
        mono
        required
        autoFocus
        autoComplete="off"
      />
      <TextareaField
        name="payload"
        label="Payload"
        hint="Optional JSON object, at most 64 KiB"
        placeholder='{"branch": "main"}'
        mono
        spellCheck={false}
      />
      <FormError />
      <DialogButtons>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Emit event
        </Button>
      </DialogButtons>
    </Form>
  )
}

function isObject(text: string): boolean {
  if (text.trim() === '') return true
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
