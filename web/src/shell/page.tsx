import type { ReactNode } from 'react'

const widths = { full: '', wide: 'max-w-7xl', text: 'max-w-5xl' } as const

/** The margins of a page; `full` is for pages that fill the window themselves. */
export function Page({ width = 'wide', children }: { width?: keyof typeof widths; children: ReactNode }) {
  return (
    <div className={`mx-auto flex w-full min-w-0 flex-1 flex-col px-4 pt-5 pb-12 md:px-8 ${widths[width]}`}>
      {children}
    </div>
  )
}
