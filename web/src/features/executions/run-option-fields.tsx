import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useController } from 'react-hook-form'
import { Field } from '../../ui/field.tsx'
import { TagInput } from '../../ui/tag-input.tsx'
import { ModelChoice } from '../chat/model-choice.tsx'

/** For forms with a field `model`; null is the agent's model. */
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

/** Without a named tool, all tools of the agent are allowed. */
export function ToolsField() {
  const { field, fieldState } = useController({ name: 'allowed_tools' })
  return (
    <Field label="Allowed tools" error={fieldState.error?.message ?? null}>
      <TagInput
        value={field.value ?? []}
        onValueChange={(tools) => field.onChange(tools.length === 0 ? null : tools)}
        onBlur={field.onBlur}
        placeholder="All tools of the agent, or for example Read, Bash(git log:*)"
      />
    </Field>
  )
}
