import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

type GuideLinkProps = { path: string; className?: string; isCurrent?: boolean; children: ReactNode }

/** A link to a page of the help by its address, e.g. `/help/operate/keys#scopes`. */
export function GuideLink({ path, className, isCurrent = false, children }: GuideLinkProps) {
  const current = isCurrent ? ('page' as const) : undefined
  // The server renders the pages of error codes, so that they also work without scripts.
  if (/^\/help\/errors(\/|$)/.test(path))
    return (
      <a href={path} className={className}>
        {children}
      </a>
    )
  const [address = '', hash = ''] = path.split('#')
  const page = address.replace(/^\/help\/?/, '')
  return (
    <Link
      to="/help/$"
      params={{ _splat: page }}
      hash={hash}
      search={{}}
      activeOptions={{ exact: true }}
      aria-current={current}
      className={className}
    >
      {children}
    </Link>
  )
}
