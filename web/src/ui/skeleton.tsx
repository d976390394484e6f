import { cx } from './class-names.ts'

/** A grey placeholder for loading content. Give it the size of the content. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden="true" className={cx('h-4 animate-pulse rounded-sm bg-line', className)} />
}

/** Placeholder lines of a paragraph, announced once as loading. */
export function SkeletonText({ lines = 3, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-2">
      {[...Array(lines).keys()].map((line) => (
        <Skeleton key={line} className={line === lines - 1 ? 'w-2/3' : 'w-full'} />
      ))}
    </div>
  )
}

/** Placeholders for a grid of cards or a stack of rows. */
export function SkeletonList({ rows = 5, label = 'Loading' }: { rows?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-2">
      {[...Array(rows).keys()].map((row) => (
        <Skeleton key={row} className="h-10 rounded-md" />
      ))}
    </div>
  )
}
