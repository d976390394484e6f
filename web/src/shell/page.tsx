import type { ReactNode } from 'react'

/** The margins of a page. Forms and prose are narrower than tables, with the same left edge. */
export function Page({ width = 'wide', children }: { width?: 'wide' | 'text'; children: ReactNode }) {
  return (
    <div className="mx-auto flex w-full min-w-0 max-w-7xl flex-1 flex-col px-4 pt-5 pb-12 md:px-8">
      {width === 'text' ? <div className="max-w-4xl">{children}</div> : children}
    </div>
  )
}
