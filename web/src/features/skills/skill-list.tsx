import { useQuery } from '@tanstack/react-query'
import { BookMarked } from 'lucide-react'
import { useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Select } from '../../ui/select.tsx'
import { assignmentsQuery, libraryQuery } from './queries.ts'
import { skillColumns } from './skill-columns.tsx'
import { filterSkills, type SkillFilter, skillRows } from './skill-rows.ts'

type SkillListProps = {
  filter: SkillFilter
  onFilter: (change: SkillFilter) => void
  onOpen: (name: string) => void
}

const choices = [
  { value: 'all', label: 'All' },
  { value: 'held', label: 'In use' },
  { value: 'shadowing', label: 'Shadowing' },
  { value: 'stale', label: 'Stale' },
] as const

/** All skills of the library with the agents that use them. */
export function SkillList({ filter, onFilter, onOpen }: SkillListProps) {
  const api = useApi()
  const skills = useQuery(libraryQuery(api))
  const assignments = useQuery(assignmentsQuery(api))
  const all = useMemo(
    () => skillRows(skills.data ?? [], assignments.data?.assignments ?? {}),
    [skills.data, assignments.data],
  )
  const rows = useMemo(() => filterSkills(all, filter), [all, filter])
  const sources = [...new Set(all.flatMap(({ skill }) => skill?.source_name ?? []))]
  return (
    <section aria-label="Skills" className="min-w-0">
      <CardHeader
        title="Skills"
        description="Skills that can be assigned to agents. For skills of the same name, the source with the higher priority is used."
      />
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchInput
          label="Search skills"
          value={filter.q ?? ''}
          onValueChange={(text) => onFilter({ q: text || undefined })}
          className="w-full sm:w-64"
        />
        <Segmented
          label="Filter"
          options={choices}
          value={choices.find(({ value }) => value === filter.held)?.value ?? 'all'}
          onValueChange={(held) => onFilter({ held: held === 'all' ? undefined : held })}
        />
        {sources.length > 1 && (
          <Select
            label="Source"
            value={filter.source ?? everySource}
            onValueChange={(source) => onFilter({ source: source === everySource ? undefined : source })}
            options={[
              { value: everySource, label: 'All sources' },
              ...sources.map((name) => ({ value: name, label: name })),
            ]}
            className="min-w-36"
          />
        )}
        <span className="text-muted text-xs" role="status">
          {rows.length} of {all.length}
        </span>
      </div>
      {skills.isError && !skills.data ? (
        <ErrorState
          title="Could not load the library"
          error={skills.error}
          onRetry={() => void skills.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="Skill library"
          columns={skillColumns}
          rows={rows}
          rowKey={(row) => row.name}
          rowHeight={52}
          defaultSort={{ id: 'name', desc: false }}
          rowHref={(row) => `/library?tab=skills&skill=${encodeURIComponent(row.name)}`}
          onOpenRow={({ name }) => onOpen(name)}
          isLoading={skills.isPending}
          empty={
            all.length > 0 ? (
              <EmptyState
                title="No matching skills"
                action={
                  <Button onClick={() => onFilter({ q: undefined, source: undefined, held: undefined })}>
                    Show all skills
                  </Button>
                }
              />
            ) : (
              <EmptyState
                icon={<BookMarked aria-hidden />}
                title="The library is empty"
                description="Skills appear here when an admin has added and synced a source."
              />
            )
          }
        />
      )}
    </section>
  )
}

/** Not a source name: those are never empty and never start with a space. */
const everySource = ' every'
