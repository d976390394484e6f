import { Suspense, useMemo } from 'react'
import { SearchInput } from '../../ui/input.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import type { FleetRow } from './fleet-rows.ts'
import { useFleetFilter } from './use-fleet-filter.ts'

const Combobox = lazyPart(async () => (await import('../../ui/combobox.tsx')).Combobox)

const statuses = [
  { value: 'all', label: 'All' },
  { value: 'running', label: 'Running' },
  { value: 'stopped', label: 'Stopped' },
  { value: 'exited', label: 'Exited' },
] as const

/** Filters by text, status, tag and owner. A filter with a single option is hidden. */
export function FleetFilters({ rows }: { rows: readonly FleetRow[] }) {
  const { filter, change } = useFleetFilter()
  const tags = useMemo(() => distinct(rows.flatMap((row) => row.tags)), [rows])
  const owners = useMemo(() => distinct(rows.map((row) => row.owner)), [rows])
  return (
    <>
      <SearchInput
        label="Filter agents"
        value={filter.q ?? ''}
        onValueChange={(q) => change({ q })}
        className="w-full sm:w-64"
      />
      <Segmented
        label="Status"
        options={statuses}
        value={statuses.find(({ value }) => value === filter.status)?.value ?? 'all'}
        onValueChange={(value) => change({ status: value === 'all' ? '' : value })}
      />
      <Suspense fallback={null}>
        {tags.length > 0 ? (
          <Combobox
            label="Tag"
            placeholder="All tags"
            options={tags.map((tag) => ({ value: tag, label: tag }))}
            value={filter.tags ?? null}
            onValueChange={(tag) => change({ tags: tag ?? '' })}
            clearable
            className="w-36"
          />
        ) : null}
        {owners.length > 1 ? (
          <Combobox
            label="Owner"
            placeholder="All owners"
            options={owners.map((owner) => ({ value: owner, label: owner }))}
            value={filter.owner ?? null}
            onValueChange={(owner) => change({ owner: owner ?? '' })}
            clearable
            className="w-44"
          />
        ) : null}
      </Suspense>
    </>
  )
}

function distinct(values: string[]): string[] {
  return [...new Set(values)].sort()
}
