import { executionErrorCodes } from '@roost/contracts/runs/executions'
import type { QueryKey, RunQuery } from '@roost/contracts/runs/run-query'
import { Combobox } from '../../ui/combobox.tsx'
import { Select } from '../../ui/select.tsx'
import { QueryField } from './find/query-field.tsx'
import { useQueryValues } from './find/use-query-values.ts'
import type { RunFilter } from './queries.ts'
import { errorWords, knownStatus, knownTrigger, statusChoices, triggerChoices } from './words.ts'

type Choice = { status?: string | undefined; trigger?: string | undefined; error?: string | undefined }

type RunFiltersProps = {
  /** The filter in effect, as the language writes it. */
  query: RunQuery
  /** Of the language. */
  keys: readonly QueryKey[]
  usualHours?: number
  /** The list whose first page has values to suggest. */
  filter: RunFilter
  /** Replaces the whole filter. */
  onQuery: (query: RunQuery) => void
  /** Changes single parts; undefined removes one. */
  onChange: (change: Choice) => void
}

const anyStatus = [{ value: 'all', label: 'All statuses' }, ...statusChoices]
const errorChoices = executionErrorCodes.map((value) => ({
  value,
  label: value,
  hint: errorWords[value].title,
}))

/** The filter language, and the filters that most people need. All show the same filter. */
export function RunFilters({ query, keys, usualHours, filter, onQuery, onChange }: RunFiltersProps) {
  const valuesOf = useQueryValues(filter)
  return (
    <>
      <QueryField
        label="Filter runs"
        query={query}
        keys={keys}
        valuesOf={valuesOf}
        onChange={onQuery}
        {...(usualHours === undefined ? {} : { usualHours })}
        className="w-full lg:w-auto lg:min-w-80 lg:flex-1"
      />
      <Select
        label="Status"
        options={anyStatus}
        value={knownStatus(query.status) ?? 'all'}
        onValueChange={(value) => onChange({ status: value === 'all' ? undefined : value })}
        className="w-36"
      />
      <Combobox
        label="Trigger"
        placeholder="All triggers"
        options={triggerChoices}
        value={knownTrigger(query.trigger)}
        onValueChange={(value) => onChange({ trigger: value ?? undefined })}
        clearable
        className="w-36"
      />
      <Combobox
        label="Error code"
        placeholder="All errors"
        options={errorChoices}
        value={query.error || null}
        onValueChange={(value) => onChange({ error: value ?? undefined })}
        clearable
        className="w-36"
      />
    </>
  )
}
