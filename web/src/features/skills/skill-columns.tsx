import { Badge } from '../../ui/badge.tsx'
import type { DataColumn } from '../../ui/data-table.tsx'
import type { SkillRow } from './skill-rows.ts'

export const skillColumns: readonly DataColumn<SkillRow>[] = [
  {
    id: 'name',
    header: 'Skill',
    grow: true,
    width: 150,
    sortValue: (row) => row.name.toLowerCase(),
    cell: (row) => (
      <span className="flex min-w-0 flex-col leading-4.5">
        <span className="truncate font-medium" title={row.name}>
          {row.name}
        </span>
        <span className="truncate font-normal text-muted text-xs" title={row.skill?.description ?? undefined}>
          {row.skill === null ? 'no longer in any enabled source' : row.skill.description}
        </span>
      </span>
    ),
  },
  {
    id: 'source',
    header: 'Source',
    width: 230,
    priority: 2,
    sortValue: (row) => row.skill?.source_name,
    cell: (row) => <SourceMarks row={row} />,
  },
  {
    id: 'automation',
    header: 'Automation',
    width: 124,
    priority: 3,
    sortValue: (row) => row.skill?.automation,
    cell: (row) => row.skill?.automation ?? <span className="text-faint">–</span>,
  },
  {
    id: 'files',
    header: 'Files',
    width: 80,
    priority: 3,
    align: 'end',
    sortValue: (row) => row.skill?.file_count,
    cell: (row) => row.skill?.file_count ?? '',
  },
  {
    id: 'holders',
    header: 'Used by',
    width: 120,
    sortValue: (row) => row.holders.length,
    cell: (row) => <Holders row={row} />,
  },
]

function SourceMarks({ row: { skill } }: { row: SkillRow }) {
  if (skill === null) return <Badge tone="warning">stale</Badge>
  const [first, ...others] = skill.shadowed_by
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <span className="truncate" title={skill.source_name}>
        {skill.source_name}
      </span>
      {first !== undefined && (
        <span
          className="min-w-0"
          title={`This skill takes precedence over the one of the same name in ${skill.shadowed_by.join(', ')}.`}
        >
          <Badge tone="info">
            shadows {first}
            {others.length > 0 && ` +${others.length}`}
          </Badge>
        </span>
      )}
    </span>
  )
}

function Holders({ row: { holders } }: { row: SkillRow }) {
  const [first, ...others] = holders
  if (first === undefined) return <span className="text-faint">none</span>
  return (
    <span className="block truncate" title={holders.map(({ name }) => name).join(', ')}>
      {first.label ?? first.name}
      {others.length > 0 && <span className="text-muted"> +{others.length}</span>}
    </span>
  )
}
