import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { ErrorState } from '../ui/error-state.tsx'
import { useRecovery } from '../ui/use-recovery.ts'

/** Shown in place of a page that failed to load, until a retry succeeds. */
export function LoadFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = useRecovery(error, () => {
    reset()
    void router.invalidate()
  })
  return (
    <div className="grid min-h-64 place-items-center p-6">
      <ErrorState error={error} onRetry={retry} />
    </div>
  )
}
