import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { ReactNode } from 'react'
import { Field } from '../../ui/field.tsx'
import { TagInput } from '../../ui/tag-input.tsx'
import { ModelChoice } from '../chat/model-choice.tsx'
import type { TaskErrors } from './task-errors.tsx'

/**
 * Options of a task that override the agent's settings. Null: the agent's default. The system prompt is added to the
 * agent's own.
 */
export type TaskOptions = {
  model: string | null
  /** An empty list allows no tool. */
  tools: readonly string[] | null
  timeoutSeconds: number | null
  systemPrompt: string | null
}

export const noOptions: TaskOptions = { model: null, tools: null, timeoutSeconds: null, systemPrompt: null }

export function bodyOptions({ model, tools, timeoutSeconds, systemPrompt }: TaskOptions) {
  return {
    ...(model === null ? {} : { model }),
    ...(tools === null ? {} : { allowed_tools: [...tools] }),
    ...(timeoutSeconds === null ? {} : { timeout_seconds: timeoutSeconds }),
    ...(systemPrompt === null || systemPrompt.trim() === '' ? {} : { system_prompt: systemPrompt }),
  }
}

export type TaskOptionFieldsProps = {
  agent: AgentDetails
  options: TaskOptions
  errors: TaskErrors
  onChange: (options: TaskOptions) => void
  /** An additional field. */
  children: ReactNode
}

export function TaskOptionFields({ agent, options, errors, onChange, children }: TaskOptionFieldsProps) {
  return (
    <div className="grid gap-3 sm:grid-cols-[12rem_minmax(0,1fr)_9rem]">
      <Field label="Model" error={errors.model ?? null}>
        <ModelChoice
          runtime={agent.runtime}
          agentModel={agent.runtime_model}
          value={options.model}
          onValueChange={(model) => onChange({ ...options, model })}
          look="field"
        />
      </Field>
      <Field label="Allowed tools" error={errors.allowed_tools ?? null}>
        <TagInput
          value={options.tools ?? []}
          onValueChange={(tools) => onChange({ ...options, tools: tools.length === 0 ? null : tools })}
          placeholder={
            options.tools === null
              ? 'All tools of the agent, or for example Read, Bash(git log:*)'
              : 'No tools. Enter the tools to allow.'
          }
        />
      </Field>
      {children}
    </div>
  )
}
