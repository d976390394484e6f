import { Badge } from './badge.tsx'

export type BadgeListProps = { heading: string; names: readonly string[] }

/** Unique short names under a heading; renders nothing without names. */
export function BadgeList({ heading, names }: BadgeListProps) {
  if (names.length === 0) return null
  return (
    <div>
      <h3 className="mb-1.5 text-sm font-medium">{heading}</h3>
      <ul className="flex flex-wrap gap-1.5">
        {[...new Set(names)].map((name) => (
          <li key={name} className="max-w-full">
            <Badge>{name}</Badge>
          </li>
        ))}
      </ul>
    </div>
  )
}
