import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useWatch } from 'react-hook-form'
import { formatDuration } from '../../lib/format.ts'
import { NumberField, SelectField, SwitchField, TextareaField, TextField } from '../../ui/form.tsx'
import { ModelField, ToolsField } from '../executions/run-option-fields.tsx'
import { misfireChoices } from './words.ts'

/** How a run of the schedule is bounded, made up for, checked and handed on. */
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
          hint={`At most the agent’s own, ${formatDuration(agent.execution_timeout_seconds * 1000)}`}
        />
        <ModelField agent={agent} />
      </div>
      <ToolsField />
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField name="max_retries" label="Retries after a failure" min={0} max={5} hint="0 to 5" />
        {Number(retries) > 0 && (
          <NumberField
            name="retry_delay_seconds"
            label="Pause before a retry"
            unit="seconds"
            min={30}
            max={600}
          />
        )}
      </div>
      <SelectField
        name="misfire_policy"
        label="Due times that were missed"
        hint="While the scheduler was away, by at most an hour."
        options={misfireChoices}
      />
      <TextField
        name="deliver_to_workspace_email"
        label="Deliver the output to"
        type="email"
        emptyAs="null"
        placeholder="ann@example.com"
        hint="It appears in the Main chat that this person has with the agent."
      />
      <SwitchField
        name="validation_enabled"
        label="Validate each run"
        hint="After a success the agent checks the result in a clean context."
      />
      {isValidated === true && (
        <>
          <TextareaField
            name="validation_prompt"
            label="What to check"
            emptyAs="null"
            hint="May use {original_message} and {execution_response}; the platform’s own words when left empty."
          />
          <NumberField
            name="validation_timeout_seconds"
            label="Timeout of the validation"
            unit="seconds"
            min={30}
            max={600}
          />
        </>
      )}
    </div>
  )
}
