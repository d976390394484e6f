import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useWatch } from 'react-hook-form'
import { formatDuration } from '../../lib/format.ts'
import { NumberField, SelectField, SwitchField, TextareaField, TextField } from '../../ui/form.tsx'
import { ModelField, ToolsField } from '../executions/run-option-fields.tsx'
import { misfireChoices } from './words.ts'

/** Limits, retries, missed times, delivery and validation of the schedule's runs. */
export function FurtherFields({ agent }: { agent: AgentDetails }) {
  const [retries, isValidated] = useWatch({ name: ['max_retries', 'validation_enabled'] })
  return (
    <div className="flex flex-col gap-4">
      <TextField name="description" label="Description" emptyAs="null" />
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          name="timeout_seconds"
          label="Timeout"
          unit="seconds"
          emptyAs="null"
          placeholder={String(agent.execution_timeout_seconds)}
          hint={`At most the agent’s run timeout of ${formatDuration(agent.execution_timeout_seconds * 1000)}`}
        />
        <ModelField agent={agent} />
      </div>
      <ToolsField />
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          name="max_retries"
          label="Retries"
          min={0}
          max={5}
          hint="0 to 5 retries after a failed run"
        />
        {Number(retries) > 0 && (
          <NumberField
            name="retry_delay_seconds"
            label="Delay before a retry"
            unit="seconds"
            min={30}
            max={600}
          />
        )}
      </div>
      <SelectField
        name="misfire_policy"
        label="Missed due times"
        hint="Due times missed by at most 1 hour while the scheduler was not running."
        options={misfireChoices}
      />
      <TextField
        name="deliver_to_workspace_email"
        label="Deliver output to"
        type="email"
        emptyAs="null"
        placeholder="ann@example.com"
        hint="The output appears in this user’s main conversation with the agent in the Workspace."
      />
      <SwitchField
        name="validation_enabled"
        label="Validate each run"
        hint="After a successful run, the agent checks the result in a new context."
      />
      {isValidated === true && (
        <>
          <TextareaField
            name="validation_prompt"
            label="Validation prompt"
            emptyAs="null"
            hint="May contain {original_message} and {execution_response}. Leave empty for the default prompt."
          />
          <NumberField
            name="validation_timeout_seconds"
            label="Validation timeout"
            unit="seconds"
            min={30}
            max={600}
          />
        </>
      )}
      <SwitchField
        name="undo_failed"
        label="Undo failed runs"
        hint="If a run or its validation fails, the workspace is restored to before the run, unless other runs have worked since."
      />
    </div>
  )
}
