import type { AgentDetails } from '@roost/contracts/agents/agent'
import {
  CreateEventSubscription,
  createEventSubscription,
  type EventSubscription,
  updateEventSubscription,
} from '@roost/contracts/triggers/events'
import { useQuery } from '@tanstack/react-query'
import { useController } from 'react-hook-form'
import { atField } from '../../lib/at-field.ts'
import { useApi, useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Form, FormError, TextareaField, TextField, useZodForm } from '../../ui/form.tsx'
import { agentsQuery } from '../agents/queries.ts'
import { fieldOfCode } from './actions.ts'
import { eventKeys } from './queries.ts'

type SubscriptionDialogProps = {
  agent: AgentDetails
  editing: EventSubscription | 'new' | null
  onClose: () => void
}

export function SubscriptionDialog({ agent, editing, onClose }: SubscriptionDialogProps) {
  return (
    <Dialog
      open={editing !== null}
      onOpenChange={onClose}
      title={editing === 'new' ? 'New subscription' : 'Edit subscription'}
    >
      {editing && (
        <SubscriptionForm agent={agent} stored={editing === 'new' ? null : editing} onDone={onClose} />
      )}
    </Dialog>
  )
}

type FormProps = { agent: AgentDetails; stored: EventSubscription | null; onDone: () => void }

function SubscriptionForm({ agent: { name }, stored, onDone }: FormProps) {
  const { api, queries } = useApp()
  const form = useZodForm(CreateEventSubscription, {
    defaultValues: {
      source_agent: stored?.source_agent ?? null,
      event_type: stored?.event_type ?? '',
      target_message: stored?.target_message ?? '',
      enabled: stored?.enabled ?? true,
    },
  })
  return (
    <Form
      form={form}
      label="Subscription"
      onSubmit={async ({ source_agent, event_type, target_message, enabled }) => {
        const fields = { event_type, target_message }
        try {
          await (stored === null
            ? api.call(createEventSubscription, {
                params: { name },
                body: { ...fields, source_agent, enabled },
              })
            : api.call(updateEventSubscription, { params: { id: stored.id }, body: fields }))
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
        hint="The platform emits agent.task.completed and agent.task.failed at the end of tasks."
        mono
        required
        autoFocus
        autoComplete="off"
      />
      {stored === null && <SourceField name={name} />}
      <TextareaField
        name="target_message"
        label="Message"
        rows={4}
        required
        hint={
          <>
            May contain <code>{'{{payload.key}}'}</code>, <code>{'{{event_type}}'}</code> and{' '}
            <code>{'{{source_agent}}'}</code>. Inserted values are marked as data.
          </>
        }
      />
      <FormError />
      <DialogButtons>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          {stored === null ? 'Subscribe' : 'Save'}
        </Button>
      </DialogButtons>
    </Form>
  )
}

function SourceField({ name }: { name: string }) {
  const agents = useQuery(agentsQuery(useApi()))
  const { field, fieldState } = useController({ name: 'source_agent' })
  const others = (agents.data ?? []).filter((agent) => agent.name !== name)
  return (
    <Field
      label="Source agent"
      error={fieldState.error?.message ?? null}
      hint="An agent that this agent is permitted to call."
    >
      <Combobox
        value={field.value ?? null}
        onValueChange={field.onChange}
        options={others.map((agent) => ({ value: agent.name, label: agent.label ?? agent.name }))}
        placeholder="Any source"
        clearable
      />
    </Field>
  )
}
