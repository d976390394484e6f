import { type ComponentType, type ReactNode, use } from 'react'
import { loadCode } from '../lib/code.ts'
import { Boundary } from './boundary.tsx'
import { ErrorState } from './error-state.tsx'
import { useRecovery } from './use-recovery.ts'

export type LazyPart<Props> = {
  (props: Props): ReactNode
  /** Starts to load the code before the first render. */
  preload(): void
}

/**
 * A component whose code loads on first render, under the nearest `Suspense`. On failure `Instead` (default:
 * the error with a retry) replaces only this component until a retry succeeds.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Instead?: ComponentType<Props>,
): LazyPart<Props> {
  let loading: Promise<ComponentType<Props>> | null = null

  function loaded(): Promise<ComponentType<Props>> {
    if (loading) return loading
    const started = loadCode(load)
    // With these properties, `use` returns the component at once instead of showing the fallback first.
    started.then(
      (value) => Object.assign(started, { status: 'fulfilled', value }),
      () => {},
    )
    loading = started
    return started
  }

  function Part(props: Props) {
    // Called in every render, because React restarts suspended renders and expects the same hooks.
    const Loaded = use(loaded())
    return <Loaded {...props} />
  }

  function Lazy(props: Props) {
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

  return Object.assign(Lazy, { preload: () => void loaded() })
}

type FailedProps = { error: unknown; retry: () => void; children: ReactNode }

function Failed({ error, retry, children }: FailedProps) {
  const onRetry = useRecovery(error, retry)
  return children ?? <ErrorState error={error} onRetry={onRetry} />
}
