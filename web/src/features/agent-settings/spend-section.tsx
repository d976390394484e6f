import { getSpendCap, putSpendCap, SpendCapPatch } from '@roost/contracts/runs/spend-caps'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { costText, formatCost } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Cost } from '../../ui/cost.tsx'
import { Form, FormError, NumberField, useZodForm } from '../../ui/form.tsx'
import { Meter } from '../../ui/progress.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { settingKey } from './queries.ts'
import { type SettingProps, useSave } from './use-save.ts'

export function SpendSection({ agent, isOwner }: SettingProps) {
  const api = useApi()
  const queryKey = settingKey(agent.name, 'spend-cap')
  const { data } = useSuspenseQuery(
    queryOptions({
      queryKey,
      queryFn: ({ signal }) => api.call(getSpendCap, { params: { name: agent.name }, signal }),
    }),
  )
  const { daily_usd, per_run_usd, spent_today_usd, cost_estimated } = data
  const form = useZodForm(SpendCapPatch, { values: { daily_usd, per_run_usd } })
  const save = useSave(queryKey, agent, {
    save: (body: SpendCapPatch) => api.call(putSpendCap, { params: { name: agent.name }, body }),
    message: (saved) =>
      saved.daily_usd === null && saved.per_run_usd === null
        ? 'Spend caps removed.'
        : 'Spend caps saved. They apply to the next model request.',
  })
  return (
    <Section
      title="Spend caps"
      description="The maximum model cost of this agent, as Roost books it by the price table, estimates included. When a cap is reached, model requests are refused and the run fails."
    >
      <SpentToday spent={spent_today_usd} isEstimated={cost_estimated} cap={daily_usd} />
      <Form form={form} onSubmit={(body) => save(body).then(() => {})}>
        <FormError />
        <div className="grid gap-4 sm:grid-cols-2">
          <NumberField
            name="daily_usd"
            label="Daily cap"
            unit="USD"
            hint="Total cost of all runs per UTC day. Leave empty for no cap."
            min={0}
            step="any"
            emptyAs="null"
            disabled={!isOwner}
          />
          <NumberField
            name="per_run_usd"
            label="Cap per run"
            unit="USD"
            hint="Leave empty for no cap."
            min={0}
            step="any"
            emptyAs="null"
            disabled={!isOwner}
          />
        </div>
        {isOwner ? <SaveRow form={form} /> : null}
      </Form>
    </Section>
  )
}

function SpentToday(props: { spent: number; isEstimated: boolean; cap: number | null }) {
  const { spent, isEstimated, cap } = props
  if (cap !== null) {
    return (
      <Meter
        label="Spent today"
        value={spent}
        max={cap}
        text={`${costText(spent, isEstimated)} of ${formatCost(cap)}`}
      />
    )
  }
  return (
    <p className="text-muted text-sm">
      Spent today: <Cost usd={spent} isEstimated={isEstimated} className="font-medium text-ink" />
    </p>
  )
}
