import { Suspense } from 'react'
import { cx } from './class-names.ts'
import { lazyPart } from './lazy-part.tsx'
import { Skeleton } from './skeleton.tsx'
import type { TerminalSurfaceProps } from './terminal-surface.tsx'

/** A terminal, loaded on demand. Escape and then Tab leaves it by keyboard. */
export function Terminal({ className, ...props }: TerminalSurfaceProps & { className?: string }) {
  return (
    <div
      className={cx(
        'relative min-h-40 min-w-0 overflow-hidden rounded-md border border-line bg-surface has-focus:border-focus has-focus:outline-1 has-focus:outline-focus',
        className,
      )}
    >
      <Suspense fallback={<Skeleton className="absolute inset-0 h-auto rounded-none" />}>
        <Surface {...props} />
      </Suspense>
    </div>
  )
}

const Surface = lazyPart(async () => (await import('./terminal-surface.tsx')).TerminalSurface)
