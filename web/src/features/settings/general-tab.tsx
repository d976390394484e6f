import { type FeatureFlag, featureFlags, putSetting } from '@roost/contracts/foundation/settings'
import { useSuspenseQueries } from '@tanstack/react-query'
import { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Form, FormError, TextareaField, TextField, useZodForm } from '../../ui/form.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { flagsQuery, settingKeys, settingQuery, versionQuery } from './queries.ts'

const General = z.object({ platform_prompt: z.string(), platform_default_model: z.string() })

const features: Record<FeatureFlag, string> = {
  voice: 'Voice',
  voip: 'Telephone calls',
  workspace: 'Workspace',
  chat_sessions: 'Chats',
  two_factor: 'Second factor',
  public_links: 'Public links',
  paid_chat: 'Paid chats',
  usage_sharing: 'Usage sharing',
  dispatch_breaker: 'Circuit breakers',
  email_login: 'Sign-in by e-mail',
  slack: 'Slack',
}

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
          {featureFlags.map((flag) => (
            <li key={flag}>
              <Badge tone={flags.data[flag] ? 'success' : 'neutral'}>
                {features[flag]}: {flags.data[flag] ? 'on' : 'off'}
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
            { label: 'Built', value: builtAt(version.data.build_date) },
            ...(version.data.install_source === 'unknown'
              ? []
              : [{ label: 'Installed by', value: version.data.install_source }]),
            { label: 'Edition', value: version.data.edition },
            { label: 'Runtimes', value: version.data.runtimes.join(', ') },
            { label: 'Agent image', value: version.data.components.agent_image },
          ]}
        />
      </Section>
    </>
  )
}

/** A build without metadata does not know. */
function builtAt(date: string) {
  return Number.isNaN(Date.parse(date)) ? date : <ExactTime at={date} />
}

function PromptSection({ prompt, model }: { prompt: string; model: string }) {
  const { api, queries } = useApp()
  const form = useZodForm(General, {
    values: { platform_prompt: prompt, platform_default_model: model },
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
        <SaveRow form={form} />
      </Form>
    </Section>
  )
}
