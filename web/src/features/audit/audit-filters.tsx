import type { ManagedUser } from '@roost/contracts/identity/people'
import { useQuery } from '@tanstack/react-query'
import { SlidersHorizontal } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Popover } from '../../ui/popover.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { agentsQuery } from '../agents/queries.ts'
import { keysQuery } from '../keys/queries.ts'
import { type AuditSearch, isFiltered, noFilter, usualHours } from './filter.ts'
import { MoreFilters } from './more-filters.tsx'
import { outcomeChoices, typeChoices } from './words.ts'

const spans = [
  { value: '24', label: '24 h' },
  { value: String(usualHours), label: '7 days' },
  { value: '720', label: '30 days' },
  { value: '0', label: 'All' },
  { value: 'days', label: 'Days' },
] as const

export type AuditFiltersProps = {
  search: AuditSearch
  change: (next: AuditSearch) => void
  people: readonly ManagedUser[]
}

/** Time, subject, actor, outcome; the rarer ones behind a button. */
export function AuditFilters({ search, change, people }: AuditFiltersProps) {
  const api = useApi()
  const { data: agents } = useQuery(agentsQuery(api))
  const { data: keys } = useQuery(keysQuery(api, { all: true }))
  const hasDays = Boolean(search.from || search.to)
  const span = hasDays ? 'days' : String(search.hours ?? usualHours)
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
      <Choice
        label="Subject"
        placeholder="Any subject"
        options={typeChoices}
        value={search.type}
        onChange={(type) => change({ type })}
      />
      <Choice
        label="Outcome"
        placeholder="Any outcome"
        options={outcomeChoices}
        value={search.outcome}
        onChange={(outcome) => change({ outcome })}
      />
      <Choice
        label="Person"
        placeholder="Anybody"
        options={people.map(({ id, name, username }) => ({
          value: id,
          label: name?.trim() || username,
          hint: username,
        }))}
        value={search.actor}
        onChange={(actor) => change({ actor })}
      />
      <Choice
        label="Agent"
        placeholder="Any agent"
        options={(agents ?? []).map(({ name, label }) => ({ value: name, label: label ?? name }))}
        value={search.agent}
        onChange={(agent) => change({ agent })}
      />
      <Choice
        label="Key"
        placeholder="Any key"
        options={(keys ?? []).map((key) => ({
          value: key.id,
          label: key.name,
          hint: `${key.username} · ${key.key_prefix}…`,
        }))}
        value={search.key}
        onChange={(key) => change({ key })}
      />
      <Popover
        label="More filters"
        align="end"
        trigger={<Button icon={<SlidersHorizontal aria-hidden />}>More{rare > 0 && ` (${rare})`}</Button>}
      >
        <MoreFilters search={search} change={change} />
      </Popover>
      {isFiltered(search) && (
        <Button size="sm" variant="ghost" onClick={() => change(noFilter)}>
          Clear filters
        </Button>
      )}
    </div>
  )
}

function Choice(props: {
  label: string
  placeholder: string
  options: { value: string; label: string; hint?: string }[]
  value: string | undefined
  onChange: (value: string | undefined) => void
}) {
  return (
    <Combobox
      label={props.label}
      placeholder={props.placeholder}
      options={props.options}
      value={props.value ?? null}
      onValueChange={(value) => props.onChange(value ?? undefined)}
      clearable
      className="w-36"
    />
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

/** A day of the person's zone as `2026-03-01`. */
function dayOf(ms: number): string {
  const date = new Date(ms)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
