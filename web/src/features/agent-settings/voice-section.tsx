import { putVoiceName, putVoicePrompt, voicePromptLength } from '@roost/contracts/conversations/voice'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { z } from 'zod'
import { useApi } from '../../shell/app-context.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Field } from '../../ui/field.tsx'
import { Form, FormError, TextareaField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { voiceNameQuery, voicePromptQuery } from '../voice/queries.ts'
import { type SettingProps, useSave } from './use-save.ts'

const PromptBody = z.object({
  voice_system_prompt: z
    .string()
    .max(voicePromptLength, `The voice instructions must have at most ${voicePromptLength} characters.`)
    .nullable(),
})

/** The voice of the agent in calls. */
export function VoiceSection(props: SettingProps) {
  return (
    <Section title="Voice" description="The voice of the agent in calls. Changes apply to the next call.">
      <VoiceChoice {...props} />
      {props.isOwner ? <PromptForm {...props} /> : null}
    </Section>
  )
}

function VoiceChoice({ agent, isOwner }: SettingProps) {
  const api = useApi()
  const query = voiceNameQuery(api, agent.name)
  const { data } = useSuspenseQuery(query)
  const save = useSave(query.queryKey, agent, {
    save: (voice_name: string | null) =>
      api.call(putVoiceName, { params: { name: agent.name }, body: { voice_name } }),
    message: ({ voice_name, default_voice }) => `Voice set to ${voice_name ?? default_voice}.`,
  })
  const choose = useMutation({
    mutationFn: save,
    onError: (error) => toast({ title: error.message, tone: 'danger' }),
  })
  return (
    <Field label="Voice" hint="Voices offered by the voice provider.">
      <Combobox
        value={data.voice_name}
        onValueChange={(name) => choose.mutate(name)}
        options={data.available_voices.map((name) => ({ value: name, label: name }))}
        placeholder={`${data.default_voice} (default)`}
        clearable
        disabled={!isOwner || choose.isPending}
        className="w-full sm:w-64"
      />
    </Field>
  )
}

function PromptForm({ agent }: SettingProps) {
  const api = useApi()
  const query = voicePromptQuery(api, agent.name)
  const { data } = useSuspenseQuery(query)
  const form = useZodForm(PromptBody, { values: { voice_system_prompt: data.voice_system_prompt } })
  const save = useSave(query.queryKey, agent, {
    save: (body: z.output<typeof PromptBody>) =>
      api.call(putVoicePrompt, { params: { name: agent.name }, body }),
    message: ({ voice_system_prompt }) =>
      voice_system_prompt === null ? 'Voice instructions removed.' : 'Voice instructions saved.',
  })
  return (
    <Form form={form} onSubmit={(body) => save(body).then(() => {})}>
      <FormError />
      <TextareaField
        name="voice_system_prompt"
        label="Voice instructions"
        hint="Given to the voice before each call, for example its tone and first question. At most 4,000 characters."
        rows={4}
        emptyAs="null"
      />
      <SaveRow form={form} />
    </Form>
  )
}
