import type { Client } from '@roost/contracts/client'
import type { QueryClient } from '@tanstack/react-query'
import { createContext, use, useSyncExternalStore } from 'react'
import type { Session } from '../lib/session.ts'
import type { Optimistic } from '../live/optimistic.ts'
import type { LiveState } from '../live/socket.ts'
import type { LiveLayer } from '../live/start.ts'

/** The single instances that one running application shares. */
export type App = {
  api: Client
  session: Session
  /** The session of a Workspace guest: signed in by e-mail code, without an account. */
  guest: Session
  queries: QueryClient
  live: LiveLayer
  /** Optimistic changes, shown before the platform has answered. */
  optimistic: Optimistic
}

export const AppContext = createContext<App | null>(null)

export function useApp(): App {
  const app = use(AppContext)
  if (!app) throw new Error('AppContext is missing above this component.')
  return app
}

export function useApi(): Client {
  return useApp().api
}

/** The state of the live connection, for marks that show how fresh a page is. */
export function useLiveState(): LiveState {
  const { live } = useApp()
  return useSyncExternalStore(live.onState, live.state)
}
