import { type ComponentType, type ReactNode, use } from 'react'
import { loadCode } from '../lib/code.ts'
import { Boundary } from './boundary.tsx'
import { ErrorState } from './error-state.tsx'
import { useRecovery } from './use-recovery.ts'

/**
 * A component whose code loads on first render, under the nearest `Suspense`. On failure `Instead` (default:
 * the error with a retry) replaces only this component until a retry succeeds.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Instead?: ComponentType<Props>,
): (props: Props) => ReactNode {
  let loading: Promise<ComponentType<Props>> | null = null

  function Part(props: Props) {
    loading ??= loadCode(load)
    // Called in every render, because React restarts suspended renders and expects the same hooks.
    const Loaded = use(loading)
    return <Loaded {...props} />
  }

  return function LazyPart(props: Props) {
    return (
      <Boundary
        instead={(error, reset) => (
          <Failed
            error={error}
            retry={() => {
              loading = null
              reset()
            }}
          >
            {Instead && <Instead {...props} />}
          </Failed>
        )}
      >
        <Part {...props} />
      </Boundary>
    )
  }
}

type FailedProps = { error: unknown; retry: () => void; children: ReactNode }

function Failed({ error, retry, children }: FailedProps) {
  const onRetry = useRecovery(error, retry)
  return children ?? <ErrorState error={error} onRetry={onRetry} />
}
