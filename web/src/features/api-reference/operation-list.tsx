import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { cx } from '../../ui/class-names.ts'
import type { Operation } from './api-document.ts'
import { MethodBadge } from './method-badge.tsx'

type Group = { tag: string; operations: Operation[] }

/** Groups the operations by heading, in the order of the document. */
export function groupsOf(operations: readonly Operation[]): Group[] {
  const groups = new Map<string, Operation[]>()
  for (const operation of operations)
    groups.set(operation.tag, [...(groups.get(operation.tag) ?? []), operation])
  return [...groups].map(([tag, members]) => ({ tag, operations: members }))
}

/** All operations below their headings; the heading of the current one is open. */
export function OperationNavigation({
  groups,
  current,
}: {
  groups: readonly Group[]
  current: Operation | null
}) {
  return (
    <nav aria-label="Operations" className="flex flex-col gap-0.5">
      {groups.map((group) => (
        // Mounted anew for another current heading, which opens it.
        <NavigationGroup key={`${group.tag} ${group.tag === current?.tag}`} group={group} current={current} />
      ))}
    </nav>
  )
}

/** Renders its links while it is open: all of them would be half of the page's elements. */
function NavigationGroup({
  group: { tag, operations },
  current,
}: {
  group: Group
  current: Operation | null
}) {
  const [isOpen, setOpen] = useState(tag === current?.tag)
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="cursor-default rounded-md px-2 py-1 font-medium text-sm hover:bg-hover">
        {tag}
      </summary>
      {isOpen && (
        <ul className="mb-1 ml-2 border-line border-l pl-1">
          {operations.map(({ id, method, summary }) => (
            <li key={id}>
              <Link
                to="/docs/{-$operation}"
                params={{ operation: id }}
                search={{}}
                activeOptions={{ exact: true }}
                aria-current={id === current?.id ? 'page' : undefined}
                className="flex items-baseline gap-2 rounded-md px-2 py-1 text-muted text-sm hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink"
              >
                <MethodBadge method={method} className="w-11" />
                <span className="min-w-0 [overflow-wrap:anywhere]">{summary}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </details>
  )
}

/** Operations as links with method, path and summary. */
export function OperationLinks({
  operations,
  showsTag = false,
}: {
  operations: readonly Operation[]
  showsTag?: boolean
}) {
  return (
    <ul className="flex flex-col divide-y divide-line overflow-hidden rounded-md border border-line bg-surface">
      {operations.map(({ id, method, path, summary, tag }) => (
        <li key={id}>
          <Link
            to="/docs/{-$operation}"
            params={{ operation: id }}
            search={{}}
            className="grid grid-cols-[3rem_minmax(0,1fr)] items-baseline gap-x-2 px-3 py-2 hover:bg-hover focus-visible:-outline-offset-2 sm:grid-cols-[3.5rem_minmax(0,1fr)_minmax(0,1fr)]"
          >
            <MethodBadge method={method} />
            <code className="text-sm [overflow-wrap:anywhere]">{path}</code>
            <span className={cx('text-muted text-sm max-sm:col-start-2')}>
              {showsTag && `${tag}: `}
              {summary}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
