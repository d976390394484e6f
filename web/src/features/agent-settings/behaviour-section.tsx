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
  agent: 'set here',
  template: 'from the template',
  platform: 'from the platform’s settings',
  runtime: 'chosen by the runtime',
} as const

/** What each turn gets: the model and the agent's own instructions. Used from the next run on. */
export function BehaviourSection(props: SettingProps) {
  return (
    <Section
      title="Behaviour"
      description="Which model answers, and what the agent is told. Used from the next run on."
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
    said: ({ resolved_model }) => `New runs use ${resolved_model ?? 'the default of the runtime'}.`,
  })
  const now = data.resolved_model
    ? `Now: ${data.resolved_model}, ${sources[data.source]}.`
    : 'Now: the default of the runtime.'
  return (
    <Form form={form} onSubmit={(body) => save({ model: body.model ?? null }).then(() => {})}>
      <FormError />
      <TextField
        name="model"
        label="Model"
        hint={`${now} An alias such as “sonnet”, or a full id. Empty: the default.`}
        placeholder="The default"
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
    said: () => 'The instructions are saved.',
  })
  return (
    <Form form={form} onSubmit={(body) => save(body).then(() => {})}>
      <FormError />
      <TextareaField
        name="custom_instructions"
        label="Instructions"
        hint="Part of its system prompt: who it is and what it is for. At most 32 KiB."
        rows={6}
        emptyAs="null"
      />
      <SaveRow form={form} />
    </Form>
  )
}
