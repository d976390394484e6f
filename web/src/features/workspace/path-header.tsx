import { Link } from '@tanstack/react-router'
import { ChevronRight, House } from 'lucide-react'
import type { ReactNode } from 'react'
import { ancestorsOf, nameOf, type Place, paramOf, visibleName } from './paths.ts'

export type PathHeaderProps = { agentName: string; place: Place; children: ReactNode }

/** Breadcrumbs and actions of the current place. */
export function PathHeader({ agentName, place, children }: PathHeaderProps) {
  const above = place.path === '' ? [] : ancestorsOf(place.path)
  const crumb = (path: string, content: ReactNode, label?: string) => (
    <Link
      to="/agents/$name"
      params={{ name: agentName }}
      search={{ tab: 'files', path: paramOf({ kind: 'folder', path }) }}
      aria-label={label}
      className="min-w-0 truncate rounded-sm px-1 py-0.5 text-muted hover:bg-hover hover:text-ink"
    >
      {content}
    </Link>
  )
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-line px-4 py-2">
      <h2 className="sr-only">{place.path === '' ? 'Workspace' : visibleName(nameOf(place.path))}</h2>
      <nav aria-label="Path" className="min-w-0 flex-1 basis-48">
        <ol className="flex min-w-0 items-center text-sm">
          <li className="flex shrink-0 items-center">
            {place.path === '' ? (
              <span aria-current="page" className="flex items-center gap-1.5 font-medium text-ink">
                <House aria-hidden className="size-4 text-faint" />
                Workspace
              </span>
            ) : (
              crumb('', <House aria-hidden className="size-4" />, 'Workspace')
            )}
          </li>
          {above.map((path) => (
            <li key={path} className="flex min-w-4 items-center">
              <Slash />
              {crumb(path, <bdi>{visibleName(nameOf(path))}</bdi>)}
            </li>
          ))}
          {place.path !== '' && (
            <li className="flex min-w-0 items-center">
              <Slash />
              <span
                aria-current="page"
                title={visibleName(nameOf(place.path))}
                className="min-w-0 truncate px-1 font-medium text-ink"
              >
                <bdi>{visibleName(nameOf(place.path))}</bdi>
              </span>
            </li>
          )}
        </ol>
      </nav>
      <div className="flex flex-wrap items-center gap-1.5">{children}</div>
    </header>
  )
}

function Slash() {
  return <ChevronRight aria-hidden className="size-3.5 shrink-0 text-faint" />
}
