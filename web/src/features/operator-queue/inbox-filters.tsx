import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { cx } from '../../ui/class-names.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Select } from '../../ui/select.tsx'
import { agentsQuery } from '../agents/queries.ts'
import type { QueueFilter } from './queries.ts'
import type { InboxSearch } from './search.ts'
import { priorityChoices, statusChoices, typeChoices } from './words.ts'

type InboxFiltersProps = {
  filter: QueueFilter
  onChange: (change: Partial<InboxSearch>) => void
  className: string
}

export function InboxFilters({ filter, onChange, className }: InboxFiltersProps) {
  const agents = useQuery(agentsQuery(useApi()))
  const named = (value: string) => (value === 'all' ? undefined : value)
  return (
    <div className={cx('mb-3 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap', className)}>
      <Select
        label="State"
        options={statusChoices}
        value={filter.status}
        onValueChange={(status) => onChange({ status: status === 'pending' ? undefined : status })}
        className="w-full sm:w-36"
      />
      <Select
        label="Kind"
        options={typeChoices}
        value={filter.type ?? 'all'}
        onValueChange={(kind) => onChange({ kind: named(kind) })}
        className="w-full sm:w-32"
      />
      <Select
        label="Priority"
        options={priorityChoices}
        value={filter.priority ?? 'all'}
        onValueChange={(priority) => onChange({ priority: named(priority) })}
        className="w-full sm:w-36"
      />
      <Combobox
        label="Agent"
        placeholder="Any agent"
        options={(agents.data ?? []).map(({ name, label }) => ({ value: name, label: label ?? name }))}
        value={filter.agent ?? null}
        onValueChange={(agent) => onChange({ agent: agent ?? undefined })}
        clearable
        className="w-full sm:w-44"
      />
    </div>
  )
}
