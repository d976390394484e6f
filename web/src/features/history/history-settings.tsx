import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { HistorySettings } from '@roost/contracts/agents/workspace-history'
import { historyPatternFault } from '@roost/contracts/link/history'
import { useQuery } from '@tanstack/react-query'
import { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Form, FormError, NumberField, SwitchField, TextareaField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { historyKeys, historySettingsQuery, saveHistorySettings } from './queries.ts'

const megabyte = 1024 * 1024
const linesOf = (text: string) => text.split('\n').flatMap((line) => line.trim() || [])

const SettingsForm = z.object({
  enabled: z.boolean(),
  undo_failed: z.boolean(),
  start_from_record: z.boolean(),
  patterns: z.string().superRefine((text, context) => {
    for (const pattern of linesOf(text)) {
      const fault = historyPatternFault(pattern)
      if (fault) context.addIssue({ code: 'custom', message: `“${pattern}” ${fault}.` })
    }
  }),
  megabytes: z.number('Enter a size.').min(0, 'The size must be at least 0.').max(1_000_000),
})
type SettingsForm = z.output<typeof SettingsForm>

/** Whether runs are recorded, and what records leave out. */
export function HistorySettingsForm({ agent }: { agent: AgentDetails }) {
  const { api } = useApp()
  const { data } = useQuery(historySettingsQuery(api, agent.name))
  if (!data) return null
  return (
    <Section
      title="History settings"
      description="Records leave out files that can be made again. What is left out cannot be restored."
    >
      {agent.is_owner || agent.can_delete ? (
        <Editable agent={agent} settings={data} />
      ) : (
        <Shown settings={data} />
      )}
    </Section>
  )
}

function Shown({ settings: { enabled, rules } }: { settings: HistorySettings }) {
  return (
    <p className="text-muted text-sm">
      {enabled ? 'Runs are recorded.' : 'Runs are not recorded.'} Excluded: {rules.patterns.join(', ')}.
    </p>
  )
}

function Editable({ agent, settings }: { agent: AgentDetails; settings: HistorySettings }) {
  const { api, queries } = useApp()
  const { enabled, undo_failed, start_from_record, can_lose_node, rules } = settings
  const form = useZodForm(SettingsForm, {
    values: {
      enabled,
      undo_failed,
      start_from_record,
      patterns: rules.patterns.join('\n'),
      megabytes: rules.max_file_bytes / megabyte,
    },
  })
  async function save(values: SettingsForm): Promise<void> {
    await saveHistorySettings(api, agent.name, {
      enabled: values.enabled,
      undo_failed: values.undo_failed,
      start_from_record: values.start_from_record,
      rules: {
        patterns: linesOf(values.patterns),
        max_file_bytes: Math.round(values.megabytes * megabyte),
      },
    })
    toast({ title: 'History settings saved', tone: 'success' })
    await queries.invalidateQueries({ queryKey: historyKeys.ofAgent(agent.name) })
  }
  return (
    <Form form={form} onSubmit={save}>
      <FormError />
      <SwitchField
        name="enabled"
        label="Record the workspace"
        hint="Before and after each run that may change files."
      />
      <SwitchField
        name="undo_failed"
        label="Undo failed runs"
        hint="If a run or its validation fails, the workspace is restored to before the run, unless other runs have worked since. Runs for people with whom the agent is shared are never undone automatically."
      />
      {can_lose_node && (
        <SwitchField
          name="start_from_record"
          label="Continue from the latest record if the node is lost"
          hint="For volumes that no other node can mount. What was written after the record stays in the former workspace. Otherwise the agent waits for its node."
        />
      )}
      <TextareaField
        name="patterns"
        label="Excluded names and paths"
        hint="One name or path per line, such as node_modules or build/cache. * matches any characters."
        rows={6}
      />
      <NumberField
        name="megabytes"
        label="Largest recorded file"
        unit="MB"
        min={0}
        step="any"
        className="max-w-72"
      />
      <SaveRow form={form} />
    </Form>
  )
}
