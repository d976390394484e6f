import { Combobox } from '../../ui/combobox.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { knownStatus, knownTrigger, statusChoices, triggerChoices } from './words.ts'

/** The parts of an address that pick runs; undefined takes a part out of it. */
export type RunSearch = {
  status?: string | undefined
  trigger?: string | undefined
  q?: string | undefined
}

const anyStatus = [{ value: 'all', label: 'Any status' }, ...statusChoices]

/** Status, trigger and words of runs. */
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
        label="Search messages and ids"
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
        placeholder="Any trigger"
        options={triggerChoices}
        value={knownTrigger(search.trigger)}
        onValueChange={(value) => onChange({ trigger: value ?? undefined })}
        clearable
        className="w-40"
      />
    </>
  )
}
