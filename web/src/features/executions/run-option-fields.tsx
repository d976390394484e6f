import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useController } from 'react-hook-form'
import { Field } from '../../ui/field.tsx'
import { TagInput } from '../../ui/tag-input.tsx'
import { ModelChoice } from '../chat/model-choice.tsx'

/** For forms with a field `model`; null is the agent's own. */
export function ModelField({ agent }: { agent: AgentDetails }) {
  const { field, fieldState } = useController({ name: 'model' })
  return (
    <Field label="Model" error={fieldState.error?.message ?? null}>
      <ModelChoice
        runtime={agent.runtime}
        agentModel={agent.runtime_model}
        value={field.value ?? null}
        onValueChange={field.onChange}
        look="field"
      />
    </Field>
  )
}

/** No tool named lets all of the agent's be used. */
export function ToolsField() {
  const { field, fieldState } = useController({ name: 'allowed_tools' })
  return (
    <Field label="Allowed tools" error={fieldState.error?.message ?? null}>
      <TagInput
        value={field.value ?? []}
        onValueChange={(tools) => field.onChange(tools.length === 0 ? null : tools)}
        onBlur={field.onBlur}
        placeholder="All of the agent’s, or e.g. Read, Bash(git log:*)"
      />
    </Field>
  )
}
