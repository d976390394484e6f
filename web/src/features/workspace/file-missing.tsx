import { ApiError } from '@roost/contracts/client'
import { FileX, Lock } from 'lucide-react'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { nameOf, visibleName } from './paths.ts'

export type FileMissingProps = {
  path: string
  /** Null while it is being read. */
  error: unknown
  onRetry: () => void
}

/** In the place of a file that is not there yet, or not at all. */
export function FileMissing({ path, error, onRetry }: FileMissingProps) {
  if (!error) {
    return (
      <div className="p-4">
        <SkeletonText lines={8} label="Reading the file" />
      </div>
    )
  }
  const name = visibleName(nameOf(path))
  const code = error instanceof ApiError ? error.body?.error : undefined
  if (code !== 'protected_path' && code !== 'file_not_found') {
    return <ErrorState title="The file could not be read" error={error} onRetry={onRetry} />
  }
  return (
    <div className="grid flex-1 place-items-center">
      {code === 'protected_path' ? (
        <EmptyState
          icon={<Lock aria-hidden />}
          title={`${name} is protected`}
          description="It holds credentials, which only the owner of the agent reads, or leads out of the workspace."
        />
      ) : (
        <EmptyState
          icon={<FileX aria-hidden />}
          title={`There is no ${name}`}
          description="It may have been deleted or moved since. A link to a folder opens as the folder it leads to."
        />
      )}
    </div>
  )
}
