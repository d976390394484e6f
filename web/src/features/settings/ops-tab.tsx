import { type OpsSetting, putOpsConfig } from '@roost/contracts/foundation/settings'
import { useSuspenseQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Form, FormError, NumberField, SwitchField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { HeldSweeps } from './held-sweeps.tsx'
import { unitOf, wordsOf } from './ops-words.ts'
import { opsConfigQuery, settingKeys } from './queries.ts'

/** Warning thresholds, limits and retention. */
export function OpsTab() {
  const { data } = useSuspenseQuery(opsConfigQuery(useApp().api))
  const entries = Object.entries(data.settings)
  const windows = entries.filter(([key]) => key.endsWith('_retention_days'))
  const thresholds = entries.filter(([key]) => !key.endsWith('_retention_days'))
  return (
    <>
      <OpsSection
        title="Warnings and limits"
        description="Thresholds of alerts, and features that can be disabled."
        entries={thresholds}
      />
      <OpsSection
        title="Retention"
        description="Days until data is deleted permanently. 0 keeps data forever, where allowed."
        entries={windows}
      >
        <HeldSweeps />
      </OpsSection>
    </>
  )
}

type OpsSectionProps = {
  title: string
  description: string
  entries: [string, OpsSetting][]
  children?: ReactNode
}

function OpsSection({ title, description, entries, children }: OpsSectionProps) {
  const { api, queries } = useApp()
  const form = useZodForm(z.object(Object.fromEntries(entries.map(([key, each]) => [key, schemaOf(each)]))), {
    values: Object.fromEntries(entries.map(([key, { value }]) => [key, value])),
  })
  return (
    <Section title={title} description={description}>
      {children}
      <Form
        form={form}
        onSubmit={async (values) => {
          const changed = Object.entries(values).filter(([key]) => form.formState.dirtyFields[key])
          await api.call(putOpsConfig, { body: { settings: Object.fromEntries(changed) } })
          await queries.invalidateQueries({ queryKey: settingKeys.ops })
          toast({ title: 'Settings saved.', tone: 'success' })
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
  const { label, hint } = wordsOf(name, setting)
  if (typeof setting.value === 'boolean') return <SwitchField name={name} label={label} hint={hint} />
  const { min, max } = setting
  return <NumberField name={name} label={label} hint={hint} unit={unitOf(name)} min={min} max={max} />
}

function schemaOf({ value, min, max }: OpsSetting) {
  if (typeof value === 'boolean') return z.boolean()
  const number = z.number('Enter a number.')
  return number
    .min(min ?? Number.NEGATIVE_INFINITY, `The value must be at least ${min}.`)
    .max(max ?? Number.POSITIVE_INFINITY, `The value must be at most ${max}.`)
}
