import { cx } from './class-names.ts'

/** A grey shape in the place of what is being loaded; give it the size of the real thing. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden="true" className={cx('h-4 animate-pulse rounded-sm bg-line', className)} />
}

/** A paragraph's worth of lines, announced once as loading. */
export function SkeletonText({ lines = 3, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-2">
      {[...Array(lines).keys()].map((line) => (
        <Skeleton key={line} className={line === lines - 1 ? 'w-2/3' : 'w-full'} />
      ))}
    </div>
  )
}

/** A grid of cards or a stack of rows. */
export function SkeletonList({ rows = 5, label = 'Loading' }: { rows?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-2">
      {[...Array(rows).keys()].map((row) => (
        <Skeleton key={row} className="h-10 rounded-md" />
      ))}
    </div>
  )
}
