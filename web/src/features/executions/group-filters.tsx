import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { formatDate } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { type RunFilter, runsQuery } from './queries.ts'

type Group = 'model' | 'person' | 'tag'
type Change = { [Name in Group]?: undefined }

const words: Record<Group, { label: string; none: string }> = {
  model: { label: 'Model', none: 'No model' },
  person: { label: 'Person', none: 'No person' },
  tag: { label: 'Tag', none: 'No tag' },
}

/** The filters by model, person and tag of an address; each can be removed. The costs page sets them. */
export function GroupFilters({
  filter,
  onChange,
}: {
  filter: RunFilter
  onChange: (change: Change) => void
}) {
  // The address has the ID of the person; the runs of the first page name the address.
  const runs = useQuery(runsQuery(useApi(), filter, 1))
  const person = runs.data?.rows.find(({ source_user_email }) => source_user_email !== null)
  const groups = Object.keys(words) as Group[]
  return groups.flatMap((group) => {
    const value = filter[group]
    if (value === undefined) return []
    const { label, none } = words[group]
    const name = group === 'person' ? (person?.source_user_email ?? value) : value
    const text = value === '' ? none : `${label}: ${name}`
    return [
      <Button
        key={group}
        size="sm"
        aria-label={`Remove the filter “${text}”`}
        onClick={() => onChange({ [group]: undefined })}
        className="max-w-full"
      >
        <span className="truncate">{text}</span>
        <X aria-hidden className="size-3.5 shrink-0" />
      </Button>,
    ]
  })
}

/** A period of UTC days in words: `1 Nov – 30 Nov`. */
export function daysLabel({ from, to }: { from?: string | undefined; to?: string | undefined }): string {
  const word = (day: string | undefined) => {
    const at = Date.parse(day ?? '')
    return Number.isNaN(at) ? '' : formatDate(at, Date.now(), { timeZone: 'UTC' })
  }
  return from === to ? word(from) : `${word(from)} – ${word(to)}`.trim()
}
