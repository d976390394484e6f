import { type OpsSetting, putOpsConfig } from '@roost/contracts/foundation/settings'
import { useSuspenseQuery } from '@tanstack/react-query'
import { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Form, FormError, NumberField, SwitchField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { opsConfigQuery, settingKeys } from './queries.ts'

/** How long things are kept, and when somebody is warned. */
export function OpsTab() {
  const { data } = useSuspenseQuery(opsConfigQuery(useApp().api))
  const entries = Object.entries(data.settings)
  const windows = entries.filter(([key]) => key.endsWith('_retention_days'))
  const thresholds = entries.filter(([key]) => !key.endsWith('_retention_days'))
  return (
    <>
      <OpsSection
        title="Thresholds and alerts"
        description="When the platform warns, and what it allows."
        entries={thresholds}
      />
      <OpsSection
        title="Retention"
        description="After how many days something is deleted. 0 keeps it for ever, where that is allowed."
        entries={windows}
      />
    </>
  )
}

type OpsSectionProps = { title: string; description: string; entries: [string, OpsSetting][] }

function OpsSection({ title, description, entries }: OpsSectionProps) {
  const { api, queries } = useApp()
  const form = useZodForm(z.object(Object.fromEntries(entries.map(([key, each]) => [key, schemaOf(each)]))), {
    values: Object.fromEntries(entries.map(([key, { value }]) => [key, value])),
    resetOptions: { keepDirtyValues: true },
  })
  return (
    <Section title={title} description={description}>
      <Form
        form={form}
        onSubmit={async (values) => {
          const changed = Object.entries(values).filter(([key]) => form.formState.dirtyFields[key])
          await api.call(putOpsConfig, { body: { settings: Object.fromEntries(changed) } })
          form.reset(values)
          await queries.invalidateQueries({ queryKey: settingKeys.ops })
          toast({ title: 'Saved.', tone: 'success' })
        }}
      >
        <FormError />
        <div className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
          {entries.map(([key, each]) => (
            <OpsField key={key} name={key} setting={each} />
          ))}
        </div>
        <SaveRow form={form} />
      </Form>
    </Section>
  )
}

function OpsField({ name, setting }: { name: string; setting: OpsSetting }) {
  const { description, min, max, is_default } = setting
  const label = labelOf(name)
  const range = min !== undefined && max !== undefined ? ` ${min} to ${max}.` : ''
  const hint = `${description}${range}${is_default ? '' : ` Default: ${setting.default}.`}`
  if (typeof setting.value === 'boolean') return <SwitchField name={name} label={label} hint={hint} />
  return <NumberField name={name} label={label} hint={hint} unit={unitOf(name)} min={min} max={max} />
}

function schemaOf({ value, min, max }: OpsSetting) {
  if (typeof value === 'boolean') return z.boolean()
  const number = z.number('Type a number.')
  return number
    .min(min ?? Number.NEGATIVE_INFINITY, `At least ${min}.`)
    .max(max ?? Number.POSITIVE_INFINITY, `At most ${max}.`)
}

const acronyms: Record<string, string> = { usd: 'USD', ssh: 'SSH' }

/** `ops_idle_timeout_minutes` → “Idle timeout”, `execution_log_retention_days` → “Execution log”. */
function labelOf(key: string): string {
  const words = key
    .replace(/^ops_|_retention_days$|_(minutes|enabled|usd)$/g, '')
    .split('_')
    .map((word) => acronyms[word] ?? word)
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function unitOf(key: string): string | undefined {
  if (key.endsWith('_days')) return 'days'
  if (key.endsWith('_minutes')) return 'minutes'
  if (key.endsWith('_threshold')) return 'percent'
  if (key.endsWith('_usd')) return 'USD'
  return key.endsWith('_interval') ? 'seconds' : undefined
}
