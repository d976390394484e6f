import { maxPlaybookInput, type Playbook, runPlaybook } from '@roost/contracts/runs/playbooks'
import type { AcceptedTask } from '@roost/contracts/runs/tasks'
import { useNavigate } from '@tanstack/react-router'
import { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, TextareaField, useZodForm } from '../../ui/form.tsx'
import { runKeys } from '../executions/queries.ts'

type PlaybookDialogProps = {
  name: string
  /** Null: closed. */
  playbook: Playbook | null
  onClose: () => void
}

export function PlaybookDialog({ name, playbook, onClose }: PlaybookDialogProps) {
  return (
    <Dialog
      open={playbook !== null}
      onOpenChange={onClose}
      title={playbook ? `Run ${playbook.title ?? playbook.name}` : ''}
      description={playbook?.description ?? 'The agent runs the playbook as one run.'}
    >
      {playbook && <PlaybookForm name={name} playbook={playbook} onCancel={onClose} />}
    </Dialog>
  )
}

const Fields = z.object({ input: z.string().max(maxPlaybookInput) })

type PlaybookFormProps = { name: string; playbook: Playbook; onCancel: () => void }

function PlaybookForm({ name, playbook, onCancel }: PlaybookFormProps) {
  const { api, queries } = useApp()
  const navigate = useNavigate()
  const form = useZodForm(Fields, { defaultValues: { input: '' } })
  return (
    <Form
      form={form}
      label="Playbook"
      onSubmit={async ({ input }) => {
        const reply = await api.call(runPlaybook, {
          params: { name, playbook: playbook.name },
          body: { input, async_mode: true },
        })
        void queries.invalidateQueries({ queryKey: runKeys.ofAgent(name) })
        // The API answers an asynchronous run with its receipt.
        const { execution_id: id } = reply as AcceptedTask
        await navigate({ to: '/agents/$name/executions/$id', params: { name, id } })
      }}
    >
      <TextareaField
        name="input"
        label="Input"
        rows={3}
        autoFocus
        {...(playbook.argument_hint ? { hint: `Expected input: ${playbook.argument_hint}` } : {})}
      />
      <FormError />
      <DialogButtons>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Run playbook
        </Button>
      </DialogButtons>
    </Form>
  )
}
