import { useSuspenseQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { type ReactNode, useCallback } from 'react'
import { authModeQuery } from '../features/sessions/queries.ts'
import { SignIn } from '../features/sessions/sign-in.tsx'
import { safeNext } from '../lib/next-path.ts'
import { useApp } from '../shell/app-context.ts'
import { SignedOutPage } from '../shell/signed-out-page.tsx'

export const route = createLazyRoute('/login')({ component: Login })

function Login() {
  const { api, session, queries } = useApp()
  const navigate = route.useNavigate()
  const { next, way } = route.useSearch()
  const { data: mode } = useSuspenseQuery(authModeQuery(api))
  const hasPlace = next !== undefined && safeNext(next) !== '/'

  async function enter(accessToken: string): Promise<void> {
    queries.clear()
    session.forget()
    session.begin(accessToken)
    await navigate({ href: safeNext(next), replace: true })
  }
  const Frame = useCallback(
    (step: { title?: string; description?: string; children: ReactNode }) => (
      <SignedOutPage
        title="Sign in to Roost"
        {...(hasPlace ? { description: 'You return to the page you requested after signing in.' } : {})}
        {...step}
      />
    ),
    [hasPlace],
  )
  return <SignIn mode={mode} way={way} enter={enter} Frame={Frame} />
}
