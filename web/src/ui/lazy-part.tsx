import { type ComponentType, type ReactNode, use } from 'react'
import { loadCode } from '../lib/code.ts'
import { Boundary } from './boundary.tsx'
import { ErrorState } from './error-state.tsx'
import { useRecovery } from './use-recovery.ts'

/**
 * A component whose code is fetched when it is first shown, under the nearest `Suspense`. When that fails, and
 * when it fails itself, `Instead` (or the error with a retry) stands in its place alone, until it heals.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Instead?: ComponentType<Props>,
): (props: Props) => ReactNode {
  let loading: Promise<ComponentType<Props>> | null = null

  function Part(props: Props) {
    loading ??= loadCode(load)
    // In every render, loaded or not: React takes a render up again where it stopped, and knows what has come.
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
