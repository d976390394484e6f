import type { AgentDetails } from '@roost/contracts/agents/agent'
import { LoopBody, previousPlaceholder, runPlaceholder, startLoop } from '@roost/contracts/runs/loops'
import type { ReactNode } from 'react'
import { useWatch } from 'react-hook-form'
import { atField } from '../../lib/at-field.ts'
import { formatDuration } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import {
  Form,
  FormError,
  NumberField,
  SelectField,
  TextareaField,
  TextField,
  useZodForm,
} from '../../ui/form.tsx'
import { ModelField, ToolsField } from '../executions/run-option-fields.tsx'
import { loopKeys } from './queries.ts'

type LoopDialogProps = {
  agent: AgentDetails
  isOpen: boolean
  onClose: () => void
  onStarted: (id: string) => void
}

export function LoopDialog({ agent, isOpen, onClose, onStarted }: LoopDialogProps) {
  return (
    <Dialog open={isOpen} onOpenChange={onClose} title="Start a loop" size="lg">
      <LoopForm agent={agent} onCancel={onClose} onStarted={onStarted} />
    </Dialog>
  )
}

/** Refusals that are about one field and do not name it. */
const fieldOfCode = {
  loop_timeout_exceeds_agent_cap: 'timeout_per_run',
  loop_deadline_below_run_timeout: 'max_duration_seconds',
  invalid_model: 'model',
}

const failureChoices = [
  { value: 'abort', label: 'End the loop' },
  { value: 'continue', label: 'Go on', hint: 'Until too many fail in a row' },
]

type FormProps = { agent: AgentDetails; onCancel: () => void; onStarted: (id: string) => void }

function LoopForm({ agent, onCancel, onStarted }: FormProps) {
  const { api, queries } = useApp()
  const { name, execution_timeout_seconds: cap } = agent
  const form = useZodForm(LoopBody, {
    defaultValues: {
      ...{ message: '', max_runs: 5, stop_signal: '', delay_seconds: 0, timeout_per_run: null },
      ...{ max_duration_seconds: null, max_cost_usd: null, no_progress_threshold: 3, on_failure: 'abort' },
      ...{ max_consecutive_failures: 3, model: null, allowed_tools: null },
    },
  })
  const onFailure = useWatch({ control: form.control, name: 'on_failure' })
  return (
    <Form
      form={form}
      label="A loop"
      onSubmit={async (body) => {
        try {
          const { loop_id } = await api.call(startLoop, { params: { name }, body })
          void queries.invalidateQueries({ queryKey: loopKeys.ofAgent(name) })
          onStarted(loop_id)
        } catch (error) {
          throw atField(error, fieldOfCode)
        }
      }}
    >
      <TextareaField
        name="message"
        label="Message"
        rows={4}
        required
        autoFocus
        hint={
          <>
            <code>{runPlaceholder}</code> is the number of the run, <code>{previousPlaceholder}</code> the end
            of the reply before.
          </>
        }
      />
      <Row>
        <NumberField name="max_runs" label="Runs at most" min={1} max={100} required hint="1 to 100" />
        <TextField
          name="stop_signal"
          label="Stop when a reply contains"
          hint="Left empty, no reply ends it."
          autoComplete="off"
        />
      </Row>
      <Row>
        <NumberField
          name="max_cost_usd"
          label="Budget"
          unit="US dollars"
          step="any"
          emptyAs="null"
          hint="Looked at between runs; empty for none."
        />
        <NumberField
          name="max_duration_seconds"
          label="Time in all"
          unit="seconds"
          emptyAs="null"
          hint="Counted from the first run. It also limits the timeout of each run. Empty means no deadline."
        />
      </Row>
      <Row>
        <NumberField
          name="timeout_per_run"
          label="Timeout of a run"
          unit="seconds"
          emptyAs="null"
          placeholder={String(cap)}
          hint={`At most the agent’s own, ${formatDuration(cap * 1000)}`}
        />
        <NumberField
          name="delay_seconds"
          label="Pause between runs"
          unit="seconds"
          emptyAs="null"
          min={0}
          max={3600}
        />
      </Row>
      <Row>
        <NumberField
          name="no_progress_threshold"
          label="Equal replies that end it"
          emptyAs="null"
          min={0}
          hint="In a row; 0 for never."
        />
        <SelectField name="on_failure" label="When a run fails" options={failureChoices} />
      </Row>
      {onFailure === 'continue' && (
        <NumberField
          name="max_consecutive_failures"
          label="Failures in a row that end it"
          emptyAs="null"
          min={1}
          max={100}
        />
      )}
      <Row>
        <ModelField agent={agent} />
        <ToolsField />
      </Row>
      <FormError />
      <DialogButtons>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Start
        </Button>
      </DialogButtons>
    </Form>
  )
}

function Row({ children }: { children: ReactNode }) {
  return <div className="grid items-start gap-4 sm:grid-cols-2">{children}</div>
}
