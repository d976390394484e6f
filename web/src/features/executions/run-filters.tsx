import { Combobox } from '../../ui/combobox.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { knownStatus, knownTrigger, statusChoices, triggerChoices } from './words.ts'

/** Search parameters that filter runs; undefined removes a parameter. */
export type RunSearch = {
  status?: string | undefined
  trigger?: string | undefined
  q?: string | undefined
}

const anyStatus = [{ value: 'all', label: 'All statuses' }, ...statusChoices]

/** Filters by text, status and trigger. */
export function RunFilters({
  search,
  onChange,
}: {
  search: RunSearch
  onChange: (change: RunSearch) => void
}) {
  return (
    <>
      <SearchInput
        label="Search messages and IDs"
        value={search.q ?? ''}
        maxLength={200}
        onValueChange={(q) => onChange({ q: q || undefined })}
        className="w-full sm:w-64"
      />
      <Select
        label="Status"
        options={anyStatus}
        value={knownStatus(search.status) ?? 'all'}
        onValueChange={(value) => onChange({ status: value === 'all' ? undefined : value })}
        className="w-40"
      />
      <Combobox
        label="Trigger"
        placeholder="All triggers"
        options={triggerChoices}
        value={knownTrigger(search.trigger)}
        onValueChange={(value) => onChange({ trigger: value ?? undefined })}
        clearable
        className="w-40"
      />
    </>
  )
}
