import { ApiError } from '@roost/contracts/client'
import { FileX, Lock } from 'lucide-react'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { nameOf, visibleName } from './paths.ts'

export type FileMissingProps = {
  path: string
  /** Null while loading. */
  error: unknown
  onRetry: () => void
}

/** Shown instead of a file that is loading, missing or not readable. */
export function FileMissing({ path, error, onRetry }: FileMissingProps) {
  if (!error) {
    return (
      <div className="p-4">
        <SkeletonText lines={8} label="Loading file" />
      </div>
    )
  }
  const name = visibleName(nameOf(path))
  const code = error instanceof ApiError ? error.body?.error : undefined
  if (code !== 'protected_path' && code !== 'file_not_found') {
    return <ErrorState title="Could not read the file" error={error} onRetry={onRetry} />
  }
  return (
    <div className="grid flex-1 place-items-center">
      {code === 'protected_path' ? (
        <EmptyState
          icon={<Lock aria-hidden />}
          title={`${name} is protected`}
          description="The file contains credentials, which only the owner can read, or it links to a target outside the workspace."
        />
      ) : (
        <EmptyState
          icon={<FileX aria-hidden />}
          title={`${name} not found`}
          description="The file may have been deleted or moved. A link to a folder opens the target folder."
        />
      )}
    </div>
  )
}
