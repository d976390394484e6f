import type { CostGrouping } from '@roost/contracts/runs/costs'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Select } from '../../ui/select.tsx'
import { AgentFilter } from '../agents/agent-filter.tsx'
import { groupings } from './groups.ts'
import { type Days, type PeriodName, type PeriodSearch, periods } from './period.ts'

type Change = PeriodSearch & { by?: string | undefined; agent?: string | undefined }

type CostFiltersProps = {
  by: CostGrouping
  agent: string | undefined
  period: Days & { name: PeriodName }
  onChange: (change: Change) => void
}

/** Grouping, period and agent; all are in the address. */
export function CostFilters({ by, agent, period, onChange }: CostFiltersProps) {
  const { name, from, to } = period
  const choose = (next: PeriodName) => {
    if (next === 'custom') onChange({ period: undefined, from, to })
    else onChange({ period: next === '30d' ? undefined : next, from: undefined, to: undefined })
  }
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      <Segmented
        label="Group by"
        options={groupings}
        value={by}
        onValueChange={(value) => onChange({ by: value === 'agent' ? undefined : value })}
      />
      <Select
        label="Period"
        options={periods}
        value={name}
        onValueChange={choose}
        className="w-full sm:w-40"
      />
      {name === 'custom' && (
        <span className="flex items-center gap-1.5">
          <Day label="First day (UTC)" value={from} onChange={(day) => onChange({ from: day, to })} />
          <span aria-hidden className="text-faint">
            –
          </span>
          <Day label="Last day (UTC)" value={to} onChange={(day) => onChange({ from, to: day })} />
        </span>
      )}
      <AgentFilter value={agent} onChange={(next) => onChange({ agent: next })} />
    </div>
  )
}

function Day(props: { label: string; value: string; onChange: (day: string) => void }) {
  return (
    <Field label={props.label} hideLabel>
      <Input
        type="date"
        value={props.value}
        // An unfinished date is empty.
        onChange={(event) => event.target.value && props.onChange(event.target.value)}
        className="w-36"
      />
    </Field>
  )
}
