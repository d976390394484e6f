import { cx } from '../../ui/class-names.ts'
import { Filter, Filters } from '../../ui/filters.tsx'
import { AgentFilter } from '../agents/agent-filter.tsx'
import type { QueueFilter } from './queries.ts'
import type { InboxSearch } from './search.ts'
import { priorityChoices, statusChoices, typeChoices } from './words.ts'

type InboxFiltersProps = {
  filter: QueueFilter
  /** The default status, which the address omits. */
  usual: string
  onChange: (change: Partial<InboxSearch>) => void
  className: string
}

export function InboxFilters({ filter, usual, onChange, className }: InboxFiltersProps) {
  return (
    <Filters className={cx('mb-3', className)}>
      <Filter
        label="Status"
        options={statusChoices}
        value={filter.status}
        usual={usual}
        onChange={(status) => onChange({ status })}
      />
      <Filter
        label="Type"
        options={typeChoices}
        value={filter.type}
        onChange={(kind) => onChange({ kind })}
      />
      <Filter
        label="Priority"
        options={priorityChoices}
        value={filter.priority}
        onChange={(priority) => onChange({ priority })}
      />
      <AgentFilter value={filter.agent} onChange={(agent) => onChange({ agent })} />
    </Filters>
  )
}
