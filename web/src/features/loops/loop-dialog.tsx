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
    <Dialog open={isOpen} onOpenChange={onClose} title="Start loop" size="lg">
      <LoopForm agent={agent} onCancel={onClose} onStarted={onStarted} />
    </Dialog>
  )
}

/** Fields of error codes that do not name one. */
const fieldOfCode = {
  loop_timeout_exceeds_agent_cap: 'timeout_per_run',
  loop_deadline_below_run_timeout: 'max_duration_seconds',
  invalid_model: 'model',
}

const failureChoices = [
  { value: 'abort', label: 'Stop the loop' },
  { value: 'continue', label: 'Continue', hint: 'Until too many consecutive runs fail' },
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
      label="Loop"
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
            <code>{runPlaceholder}</code> is the run number, <code>{previousPlaceholder}</code> the end of the
            previous reply.
          </>
        }
      />
      <Row>
        <NumberField name="max_runs" label="Maximum runs" min={1} max={100} required hint="1 to 100" />
        <TextField
          name="stop_signal"
          label="Stop phrase"
          hint="The loop stops when a reply contains this text. Leave empty for none."
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
          hint="Checked between runs. Leave empty for no budget."
        />
        <NumberField
          name="max_duration_seconds"
          label="Deadline"
          unit="seconds"
          emptyAs="null"
          hint="Counted from the first run. It also limits the timeout of each run. Leave empty for no deadline."
        />
      </Row>
      <Row>
        <NumberField
          name="timeout_per_run"
          label="Run timeout"
          unit="seconds"
          emptyAs="null"
          placeholder={String(cap)}
          hint={`At most the agent’s run timeout of ${formatDuration(cap * 1000)}`}
        />
        <NumberField
          name="delay_seconds"
          label="Delay between runs"
          unit="seconds"
          emptyAs="null"
          min={0}
          max={3600}
        />
      </Row>
      <Row>
        <NumberField
          name="no_progress_threshold"
          label="Stop after equal replies"
          emptyAs="null"
          min={0}
          hint="Number of consecutive equal replies; 0 to disable"
        />
        <SelectField name="on_failure" label="When a run fails" options={failureChoices} />
      </Row>
      {onFailure === 'continue' && (
        <NumberField
          name="max_consecutive_failures"
          label="Stop after consecutive failures"
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
          Start loop
        </Button>
      </DialogButtons>
    </Form>
  )
}

function Row({ children }: { children: ReactNode }) {
  return <div className="grid items-start gap-4 sm:grid-cols-2">{children}</div>
}
