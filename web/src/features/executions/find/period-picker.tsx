import { CalendarDays } from 'lucide-react'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { Input } from '../../../ui/input.tsx'
import { Popover } from '../../../ui/popover.tsx'
import { Segmented } from '../../../ui/segmented.tsx'
import { daysLabel } from '../group-filters.tsx'

type Period = { hours?: number | undefined; from?: string | undefined; to?: string | undefined }

const windows = [
  { value: '24', label: '24 h' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
  { value: '0', label: 'All' },
] as const
export const usualHours = 24

type PeriodPickerProps = { hours: number; from?: string; to?: string; onChange: (period: Period) => void }

/** The hours before now, or UTC days. */
export function PeriodPicker({ hours, from, to, onChange }: PeriodPickerProps) {
  const isPeriod = Boolean(from || to)
  const usual = windows.find(({ value }) => value === String(hours))
  // Only the filter language has other hours.
  const own = isPeriod ? daysLabel({ from, to }) : usual ? null : hoursLabel(hours)
  return (
    <span className="flex min-w-0 max-w-full items-center gap-2">
      <Segmented
        label="Time range"
        options={own === null ? windows : [{ value: 'own', label: own }, ...windows]}
        value={own === null && usual ? usual.value : 'own'}
        onValueChange={(value) => {
          if (value === 'own') return
          const next = Number(value)
          onChange({ hours: next === usualHours ? undefined : next, from: undefined, to: undefined })
        }}
      />
      <Popover label="Days" align="end" trigger={<Button icon={<CalendarDays aria-hidden />}>Days</Button>}>
        <div className="grid grid-cols-2 gap-2">
          <Day
            label="First day (UTC)"
            value={from}
            onChange={(day) =>
              onChange({ hours: undefined, from: day, to: to && day && to < day ? day : to })
            }
          />
          <Day
            label="Last day (UTC)"
            value={to}
            onChange={(day) =>
              onChange({ hours: undefined, from: from && day && from > day ? day : from, to: day })
            }
          />
        </div>
      </Popover>
    </span>
  )
}

function hoursLabel(hours: number): string {
  return hours % 24 === 0 ? `${hours / 24} days` : `${hours} h`
}

function Day(props: {
  label: string
  value: string | undefined
  onChange: (day: string | undefined) => void
}) {
  return (
    <Field label={props.label}>
      <Input
        type="date"
        value={props.value ?? ''}
        onChange={({ target }) => props.onChange(target.value || undefined)}
      />
    </Field>
  )
}
