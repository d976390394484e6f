import type { Client } from '@roost/contracts/client'
import type { QueryClient } from '@tanstack/react-query'
import { createContext, use, useSyncExternalStore } from 'react'
import type { Session } from '../lib/session.ts'
import type { AtOnce } from '../live/at-once.ts'
import type { LiveState } from '../live/socket.ts'
import type { LiveLayer } from '../live/start.ts'

/** What one running application has one of. */
export type App = {
  api: Client
  session: Session
  /** Of somebody without an account, who came into the Workspace by a code. */
  guest: Session
  queries: QueryClient
  live: LiveLayer
  /** What is shown before the platform has answered. */
  atOnce: AtOnce
}

export const AppContext = createContext<App | null>(null)

export function useApp(): App {
  const app = use(AppContext)
  if (!app) throw new Error('No application around this component.')
  return app
}

export function useApi(): Client {
  return useApp().api
}

/** Whether events arrive, for marks that say how fresh a page is. */
export function useLiveState(): LiveState {
  const { live } = useApp()
  return useSyncExternalStore(live.onState, live.state)
}
