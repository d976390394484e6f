import { Instructions } from '@roost/contracts/agents/agent'
import { putInstructions, putModel } from '@roost/contracts/agents/settings'
import { ModelOverride } from '@roost/contracts/kit/model'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { z } from 'zod'
import { useApi } from '../../shell/app-context.ts'
import { Form, FormError, TextareaField, TextField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { instructionsQuery, modelQuery } from './queries.ts'
import { type SettingProps, useSave } from './use-save.ts'

const sources = {
  agent: 'set for this agent',
  template: 'from the template',
  platform: 'from the platform settings',
  runtime: 'runtime default',
} as const

/** The model and the custom instructions of the agent. Changes apply to the next run. */
export function BehaviourSection(props: SettingProps) {
  return (
    <Section
      title="Behaviour"
      description="The model and the instructions of the agent. Changes apply to the next run."
    >
      <ModelForm {...props} />
      {props.isOwner ? <InstructionsForm {...props} /> : null}
    </Section>
  )
}

function ModelForm({ agent, isOwner }: SettingProps) {
  const api = useApi()
  const query = modelQuery(api, agent.name)
  const { data } = useSuspenseQuery(query)
  const form = useZodForm(z.object({ model: ModelOverride }), { values: { model: data.model } })
  const save = useSave(query.queryKey, agent, {
    save: (body: { model: string | null }) => api.call(putModel, { params: { name: agent.name }, body }),
    message: ({ resolved_model }) => `New runs use ${resolved_model ?? 'the default model of the runtime'}.`,
  })
  const now = data.resolved_model
    ? `Current model: ${data.resolved_model} (${sources[data.source]}).`
    : 'Current model: the default of the runtime.'
  return (
    <Form form={form} onSubmit={(body) => save({ model: body.model ?? null }).then(() => {})}>
      <FormError />
      <TextField
        name="model"
        label="Model"
        hint={`${now} Enter an alias such as “sonnet”, or a full model ID. Leave empty for the default.`}
        placeholder="Default"
        emptyAs="null"
        disabled={!isOwner}
        spellCheck={false}
      />
      {isOwner ? <SaveRow form={form} /> : null}
    </Form>
  )
}

function InstructionsForm({ agent }: SettingProps) {
  const api = useApi()
  const query = instructionsQuery(api, agent.name)
  const { data } = useQuery(query)
  const form = useZodForm(z.object({ custom_instructions: Instructions.nullable() }), {
    values: { custom_instructions: data?.custom_instructions ?? null },
  })
  const save = useSave(query.queryKey, agent, {
    save: (body: { custom_instructions: string | null }) =>
      api.call(putInstructions, { params: { name: agent.name }, body }),
    message: () => 'Instructions saved.',
  })
  return (
    <Form form={form} onSubmit={(body) => save(body).then(() => {})}>
      <FormError />
      <TextareaField
        name="custom_instructions"
        label="Instructions"
        hint="Added to the system prompt: the role and the purpose of the agent. At most 32 KiB."
        rows={6}
        emptyAs="null"
      />
      <SaveRow form={form} />
    </Form>
  )
}
