import './lib/zod-without-eval.ts'
import './app.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createApi } from './lib/api.ts'
import { cspNonce } from './lib/csp.ts'
import { isPassing, untilAnswering } from './lib/recovery.ts'
import { createSession, sessionKeys } from './lib/session.ts'
import { startHealing } from './live/heal.ts'
import { createOptimistic } from './live/optimistic.ts'
import { startLive } from './live/start.ts'
import { createAppRouter, preloadPage } from './router.tsx'
import { AppContext } from './shell/app-context.ts'
import { followTheme } from './shell/theme.ts'
import { showCutText } from './ui/cut-text.ts'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Events report changes, so between them cached data is current.
      staleTime: 10_000,
      retry: (failures, error) => failures < 3 && isPassing(error),
      // The browser's online state says nothing about a platform on the same machine.
      networkMode: 'always',
      refetchOnReconnect: true,
      refetchIntervalInBackground: false,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})
const session = createSession(localStorage, window, sessionKeys.person)
const guest = createSession(localStorage, window, sessionKeys.guest)
const api = createApi(location.origin, session)
const live = startLive({ api, session, queries })
startHealing(queries, untilAnswering)
const app = { api, session, guest, queries, live, optimistic: createOptimistic(queries) }
const router = createAppRouter(app)
// Signed out, most addresses lead to the sign-in page.
if (session.token() !== null) preloadPage(router)

// Dialogs lock page scrolling with a style element of their own, which needs the nonce.
setNonce(cspNonce() ?? '')
followTheme()
showCutText(document)
session.onChange((change) => {
  // A full load drops everything the previous person typed.
  if (change === 'replaced') location.assign('/')
  // Signing out leaves the page; a person whose session lapsed signs in again on it.
  if (change === 'ended') void router.invalidate()
})

// A click on a notification. Without HTTPS there is no service worker.
navigator.serviceWorker?.addEventListener('message', ({ data }) => {
  const isInbox = typeof data?.path === 'string' && /^\/inbox(\?|$)/.test(data.path)
  if (data?.type === 'open' && isInbox) router.history.push(data.path)
})

guest.onChange(() => {
  // The next guest must not see the previous one's data. A signed-in person never sees a guest's data.
  if (session.token() === null) queries.clear()
})

const element = document.getElementById('root')
if (!element) throw new Error('The page has no element with the id “root”.')
createRoot(element).render(
  <StrictMode>
    <AppContext value={app}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </AppContext>
  </StrictMode>,
)
