import { Skeleton } from '../ui/skeleton.tsx'

/** Shown while the code of a page loads. */
export function PagePending() {
  return (
    <div className="flex flex-col gap-4 p-6" role="status" aria-label="Loading page">
      <Skeleton className="h-7 w-48" />
      <Skeleton className="h-4 w-80 max-w-full" />
      <Skeleton className="mt-4 h-64 w-full" />
    </div>
  )
}
