import { putSetting } from '@roost/contracts/foundation/settings'
import { useSuspenseQueries } from '@tanstack/react-query'
import { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Form, FormError, TextareaField, TextField, useZodForm } from '../../ui/form.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { flagsQuery, settingKeys, settingQuery, versionQuery } from './queries.ts'

const General = z.object({ platform_prompt: z.string(), platform_default_model: z.string() })

/** What every agent is told, which model it gets by default, and what is running here. */
export function GeneralTab() {
  const { api } = useApp()
  const [prompt, model, flags, version] = useSuspenseQueries({
    queries: [
      settingQuery(api, 'platform_prompt'),
      settingQuery(api, 'platform_default_model'),
      flagsQuery(api),
      versionQuery(api),
    ],
  })
  return (
    <>
      <PromptSection prompt={prompt.data.value} model={model.data.value} />
      <Section
        title="Features"
        description="What this installation offers at present. Most follow from its configuration."
      >
        <ul className="flex flex-wrap gap-1.5">
          {Object.entries(flags.data).map(([name, isOn]) => (
            <li key={name}>
              <Badge tone={isOn ? 'success' : 'neutral'}>
                {name.replaceAll('_', ' ')}: {isOn ? 'on' : 'off'}
              </Badge>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Build" description="The code that is running now.">
        <KeyValues
          items={[
            { label: 'Version', value: version.data.version },
            {
              label: 'Commit',
              value: `${version.data.git_commit_short} on ${version.data.git_branch}: ${version.data.git_commit_subject}`,
            },
            { label: 'Built', value: version.data.build_date },
            { label: 'Installed by', value: version.data.install_source },
            { label: 'Edition', value: version.data.edition },
            { label: 'Runtimes', value: version.data.runtimes.join(', ') },
            { label: 'Agent image', value: version.data.components.agent_image },
          ]}
        />
      </Section>
    </>
  )
}

function PromptSection({ prompt, model }: { prompt: string; model: string }) {
  const { api, queries } = useApp()
  const form = useZodForm(General, {
    values: { platform_prompt: prompt, platform_default_model: model },
    resetOptions: { keepDirtyValues: true },
  })

  async function save(values: z.output<typeof General>): Promise<void> {
    const { dirtyFields } = form.formState
    for (const key of ['platform_prompt', 'platform_default_model'] as const) {
      if (!dirtyFields[key]) continue
      await api.call(putSetting, { params: { key }, body: { value: values[key] } }).catch((error) => {
        // The route knows one value; the form has two of them.
        form.setError(key, { message: error instanceof Error ? error.message : String(error) })
        throw error
      })
      await queries.invalidateQueries({ queryKey: settingKeys.plain(key) })
    }
    form.reset(values)
    toast({ title: 'Saved. It holds from the next run on.', tone: 'success' })
  }

  return (
    <Section
      title="All agents"
      description="Added to what each agent is told, and used where it says nothing."
    >
      <Form form={form} onSubmit={save}>
        <FormError />
        <TextareaField
          name="platform_prompt"
          label="Platform prompt"
          hint="Part of the system prompt of every run of every agent. At most 16 KiB."
          rows={6}
        />
        <TextField
          name="platform_default_model"
          label="Default model"
          hint="For agents without a model of their own, such as “sonnet”. Empty: the runtime chooses."
        />
        <div>
          <Button
            type="submit"
            variant="primary"
            disabled={!form.formState.isDirty}
            pending={form.formState.isSubmitting}
          >
            Save
          </Button>
        </div>
      </Form>
    </Section>
  )
}
