import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { ErrorState } from '../ui/error-state.tsx'

/** In the place of a page that could not be loaded. */
export function LoadFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  return (
    <div className="grid min-h-64 place-items-center p-6">
      <ErrorState
        error={error}
        onRetry={() => {
          reset()
          void router.invalidate()
        }}
      />
    </div>
  )
}
