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
import { DemoSection } from '../demo/demo-section.tsx'
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

/** Platform prompt, default model, features and build. */
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
        description="The features that are available on this platform. Most depend on its configuration."
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
      <DemoSection />
      <Section title="Build" description="The version that is running.">
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
              : [{ label: 'Distribution', value: version.data.install_source }]),
            { label: 'Edition', value: version.data.edition },
            { label: 'Runtimes', value: version.data.runtimes.join(', ') },
            { label: 'Agent image', value: version.data.components.agent_image },
          ]}
        />
      </Section>
    </>
  )
}

/** Null when the build has no metadata. */
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
        // The API stores one value, the form has two.
        form.setError(key, { message: error instanceof Error ? error.message : String(error) })
        throw error
      })
      await queries.invalidateQueries({ queryKey: settingKeys.plain(key) })
    }
    toast({ title: 'Settings saved. They apply to the next run.', tone: 'success' })
  }

  return (
    <Section title="All agents" description="Settings that apply to every agent.">
      <Form form={form} onSubmit={save}>
        <FormError />
        <TextareaField
          name="platform_prompt"
          label="Platform prompt"
          hint="Added to the system prompt of every run of every agent. At most 16 KiB."
          rows={6}
        />
        <TextField
          name="platform_default_model"
          label="Default model"
          hint="For agents without their own model, for example “sonnet”. Leave empty for the runtime’s default."
        />
        <SaveRow form={form} />
      </Form>
    </Section>
  )
}
