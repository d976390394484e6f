import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { Schedule } from '@roost/contracts/triggers/schedules'
import { useState } from 'react'
import { useFormState } from 'react-hook-form'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, SwitchField, TextareaField, TextField, useZodForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSaveSchedule } from './actions.ts'
import { CronFields } from './cron-fields.tsx'
import { FurtherFields } from './further-fields.tsx'
import { furtherFields, initialFields, ScheduleForm } from './schedule-fields.ts'
import { ownZone } from './time-words.ts'

/** The schedule to edit, or a new one, optionally copied from `from`. */
export type Editing = { stored: Schedule | null; from: Partial<Schedule> | null }

type ScheduleDialogProps = {
  agent: AgentDetails
  editing: Editing | null
  onClose: () => void
  onSaved?: (schedule: Schedule) => void
}

export function ScheduleDialog({ agent, editing, onClose, onSaved }: ScheduleDialogProps) {
  return (
    <Dialog
      open={editing !== null}
      onOpenChange={onClose}
      title={editing?.stored ? `Edit “${editing.stored.name}”` : 'New schedule'}
      size="lg"
    >
      {editing && (
        <ScheduleFormBody
          agent={agent}
          editing={editing}
          onCancel={onClose}
          onSaved={(schedule) => {
            onClose()
            onSaved?.(schedule)
          }}
        />
      )}
    </Dialog>
  )
}

type BodyProps = {
  agent: AgentDetails
  editing: Editing
  onCancel: () => void
  onSaved: (schedule: Schedule) => void
}

function ScheduleFormBody({ agent, editing: { stored, from }, onCancel, onSaved }: BodyProps) {
  const form = useZodForm(ScheduleForm, { defaultValues: initialFields(stored ?? from, ownZone()) })
  const save = useSaveSchedule(agent.name, stored)
  return (
    <Form
      form={form}
      label={stored ? 'Schedule' : 'New schedule'}
      onSubmit={async (fields) => {
        const saved = await save(fields)
        toast({
          title: stored ? `“${saved.name}” saved.` : `“${saved.name}” created.`,
          tone: 'success',
        })
        onSaved(saved)
      }}
    >
      <TextField name="name" label="Name" required autoFocus={stored === null} autoComplete="off" />
      <TextareaField
        name="message"
        label="Message"
        hint="The task that the agent gets at each run."
        rows={4}
        required
      />
      <CronFields />
      {stored === null && (
        <SwitchField
          name="enabled"
          label="Enabled"
          hint="When off, it runs only manually or through its webhook."
        />
      )}
      <More agent={agent} />
      <FormError />
      <DialogButtons>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          {stored ? 'Save' : 'Create schedule'}
        </Button>
      </DialogButtons>
    </Form>
  )
}

function More({ agent }: { agent: AgentDetails }) {
  const { errors } = useFormState()
  const [isOpen, setOpen] = useState(false)
  const isWrong = furtherFields.some((field) => errors[field] !== undefined)
  return (
    <details
      open={isOpen || isWrong}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="rounded-md border border-line"
    >
      <summary className="cursor-default px-3 py-2 font-medium text-sm select-none hover:bg-hover">
        Limits, retries, delivery, validation
      </summary>
      <div className="border-t p-3">
        <FurtherFields agent={agent} />
      </div>
    </details>
  )
}
