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
import { createAtOnce } from './live/at-once.ts'
import { startHealing } from './live/heal.ts'
import { startLive } from './live/start.ts'
import { createAppRouter } from './router.tsx'
import { AppContext } from './shell/app-context.ts'
import { followTheme } from './shell/theme.ts'
import { tellCutText } from './ui/cut-text.ts'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say when something has changed; between them what is there is true.
      staleTime: 10_000,
      retry: (failures, error) => failures < 3 && isPassing(error),
      // What the browser thinks of the network says nothing of the way to a platform on the same machine.
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
const app = { api, session, guest, queries, live, atOnce: createAtOnce(queries) }
const router = createAppRouter(app)

// Dialogs lock the page behind them with a style element of their own.
setNonce(cspNonce() ?? '')
followTheme()
tellCutText(document)
session.onChange((change) => {
  // Nothing that the one before has typed is left on the page.
  if (change === 'replaced') location.assign('/')
  // A person who signs out means to leave; one whose session has lapsed signs in where they are.
  if (change === 'ended') void router.invalidate()
})

guest.onChange(() => {
  // Nothing of the one before is seen by the next; a person sees nothing of a guest anyway.
  if (session.token() === null) queries.clear()
})

const element = document.getElementById('root')
if (!element) throw new Error('The page has no element to draw into.')
createRoot(element).render(
  <StrictMode>
    <AppContext value={app}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </AppContext>
  </StrictMode>,
)
