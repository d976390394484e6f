import type { ManagedUser } from '@roost/contracts/identity/people'
import { SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Popover } from '../../ui/popover.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { useMediaQuery } from '../../ui/use-media-query.ts'
import { AuditChoices } from './audit-choices.tsx'
import { type AuditSearch, isFiltered, noFilter, usualHours } from './filter.ts'
import { MoreFilters } from './more-filters.tsx'

const spans = [
  { value: '24', label: '24 h' },
  { value: String(usualHours), label: '7 days' },
  { value: '720', label: '30 days' },
  { value: '0', label: 'All' },
  { value: 'days', label: 'Custom' },
] as const

export type AuditFiltersProps = {
  search: AuditSearch
  change: (next: AuditSearch) => void
  people: readonly ManagedUser[]
}

/** Time, subject, actor and outcome; less common filters are behind a button. */
export function AuditFilters({ search, change, people }: AuditFiltersProps) {
  const isNarrow = useMediaQuery('(max-width: 40rem)')
  const [isOpen, setOpen] = useState(false)
  const hasDays = Boolean(search.from || search.to)
  const span = hasDays ? 'days' : String(search.hours ?? usualHours)
  const usual = [search.type, search.outcome, search.actor, search.agent, search.key].filter(Boolean).length
  const rare = [search.by, search.source, search.scope, search.action, search.request].filter(Boolean).length

  function chooseSpan(value: string): void {
    const hours = Number(value)
    change(
      value === 'days'
        ? { from: dayOf(Date.now() - 6 * 86_400_000), to: dayOf(Date.now()) }
        : { hours: hours === usualHours ? undefined : hours, from: undefined, to: undefined },
    )
  }

  return (
    <div className="flex flex-wrap items-center gap-2">
      <div className="flex basis-full flex-wrap items-center gap-2">
        <Segmented
          label="Time range"
          options={spans}
          value={spans.find(({ value }) => value === span)?.value ?? '168'}
          onValueChange={chooseSpan}
        />
        {hasDays && (
          <span className="flex flex-wrap items-center gap-1.5">
            <Day label="From" value={search.from} onChange={(from) => change({ from })} />
            <span aria-hidden className="text-muted">
              –
            </span>
            <Day label="To" value={search.to} onChange={(to) => change({ to })} />
          </span>
        )}
      </div>
      {isNarrow ? (
        <Button icon={<SlidersHorizontal aria-hidden />} onClick={() => setOpen(true)}>
          Filters{usual + rare > 0 && ` (${usual + rare})`}
        </Button>
      ) : (
        <>
          <AuditChoices search={search} change={change} people={people} className="w-36" />
          <Popover
            label="More filters"
            align="end"
            trigger={
              <Button icon={<SlidersHorizontal aria-hidden />}>More filters{rare > 0 && ` (${rare})`}</Button>
            }
          >
            <MoreFilters search={search} change={change} />
          </Popover>
        </>
      )}
      <Sheet open={isNarrow && isOpen} onOpenChange={setOpen} title="Filters">
        <div className="flex flex-col gap-3">
          <AuditChoices search={search} change={change} people={people} className="w-full" />
          <MoreFilters search={search} change={change} />
        </div>
      </Sheet>
      {isFiltered(search) && (
        <Button size="sm" variant="ghost" onClick={() => change(noFilter)}>
          Clear filters
        </Button>
      )}
      <RoutineNote search={search} change={change} />
    </div>
  )
}

/** Every open page creates a ticket each time it connects: the entries would hide all others. */
function RoutineNote({ search, change }: Pick<AuditFiltersProps, 'search' | 'change'>) {
  // A selected action shows its entries anyway.
  if (search.action) return null
  const isShown = search.routine === true
  return (
    <p className="flex basis-full flex-wrap items-center gap-1 text-muted text-xs">
      Tickets for live connections are {isShown ? 'shown' : 'hidden'}.
      <Button
        size="sm"
        variant="ghost"
        aria-label={`${isShown ? 'Hide' : 'Show'} tickets for live connections`}
        onClick={() => change({ routine: isShown ? undefined : true })}
      >
        {isShown ? 'Hide' : 'Show'}
      </Button>
    </p>
  )
}

function Day(props: {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}) {
  return (
    <Field label={props.label} hideLabel>
      <Input
        type="date"
        value={props.value ?? ''}
        onChange={(event) => props.onChange(event.target.value || undefined)}
        className="w-36"
      />
    </Field>
  )
}

/** A day in the user's time zone as `2026-03-01`. */
function dayOf(ms: number): string {
  const date = new Date(ms)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
