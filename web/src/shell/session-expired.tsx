import type { User } from '@roost/contracts/identity/users'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, Suspense, useState, useSyncExternalStore } from 'react'
import { authModeQuery } from '../features/sessions/queries.ts'
import type { SignInMethod } from '../features/sessions/sign-in-methods.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { useApp } from './app-context.ts'

const SignIn = lazyPart(async () => (await import('../features/sessions/sign-in.tsx')).SignIn)

/** A sign-in dialog over the page when the session has ended. The page below keeps its typed input. */
export function SessionExpired({ me }: { me: User }) {
  const { session } = useApp()
  const isLapsed = useSyncExternalStore(session.onChange, session.isLapsed)
  return (
    <Dialog
      open={isLapsed}
      onOpenChange={() => {}}
      insistent
      size="sm"
      title="Your session has expired"
      description={`Sign in again as ${me.username} to continue. Your unsaved input is kept.`}
    >
      <Suspense fallback={<Skeleton className="h-40" />}>
        <Again />
      </Suspense>
      <p className="mt-4 border-t pt-3 text-center text-muted text-xs">
        Not you, or finished?{' '}
        <Button variant="ghost" size="sm" onClick={() => session.end()}>
          Sign out
        </Button>
      </p>
    </Dialog>
  )
}

function Again() {
  const { api, session } = useApp()
  // Queries below the dialog do not retry while the session is lapsed. `live/heal.ts` retries this one.
  const mode = useQuery({ ...authModeQuery(api), retry: false })
  const [way, setWay] = useState<SignInMethod>()
  if (mode.data)
    return (
      <SignIn
        mode={mode.data}
        way={way}
        onWay={setWay}
        enter={async (token) => session.begin(token)}
        Frame={Step}
      />
    )
  if (mode.error) return <ErrorState error={mode.error} onRetry={() => void mode.refetch()} />
  return <Skeleton className="h-40" />
}

function Step({
  title,
  description,
  children,
}: {
  title?: string
  description?: string
  children: ReactNode
}) {
  return (
    <div className="flex flex-col gap-3">
      {title ? <p className="font-medium text-sm">{title}</p> : null}
      {description ? <p className="text-muted text-sm">{description}</p> : null}
      {children}
    </div>
  )
}
