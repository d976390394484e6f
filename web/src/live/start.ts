import type { Client } from '@roost/contracts/client'
import { createSocketTicket } from '@roost/contracts/operations/sockets'
import { focusManager, type QueryClient } from '@tanstack/react-query'
import type { Session } from '../lib/session.ts'
import { createRefresh } from './refresh.ts'
import { createLive, type LiveEvent, type LiveState, type Position } from './socket.ts'
import { staleBy } from './stale.ts'

export type LiveLayer = {
  state(): LiveState
  /** Called when the state changes. */
  onState(listener: () => void): () => void
  onEvent(listener: (event: LiveEvent) => void): () => void
}

/** Interval of the full refresh while no events arrive. */
const pollMs = 15_000
const positionKey = 'roost.position'

/**
 * Keeps queries current: by events while the socket is open, by polling every 15 s while it is not. Does
 * nothing while the tab is hidden or nobody is signed in.
 */
export function startLive(deps: { api: Client; session: Session; queries: QueryClient }): LiveLayer {
  const { api, session, queries } = deps
  const stateListeners = new Set<() => void>()
  const eventListeners = new Set<(event: LiveEvent) => void>()
  const refresh = createRefresh(queries)
  let state: LiveState = 'paused'
  let poll: ReturnType<typeof setInterval> | null = null

  function setState(next: LiveState): void {
    if (next === 'down') poll ??= setInterval(() => refresh.staleAll(), pollMs)
    else if (poll !== null) {
      clearInterval(poll)
      poll = null
    }
    if (next === state) return
    state = next
    for (const listener of stateListeners) listener()
  }

  const live = createLive({
    ticket: async () => (await api.call(createSocketTicket, {})).ticket,
    connect: (url) => new WebSocket(url),
    origin: location.origin.replace(/^http/, 'ws'),
    onEvent(event) {
      refresh.stale(staleBy(event))
      for (const listener of eventListeners) listener(event)
    },
    onGap: () => refresh.staleAll(),
    onState: setState,
    position: positionIn(sessionStorage),
    wait: pause,
    random: Math.random,
  })

  function follow(): void {
    // A lapsed session counts as a hidden tab: interval queries would only be refused.
    focusManager.setFocused(session.isLapsed() ? false : undefined)
    const shouldRun = document.visibilityState === 'visible' && session.token() !== null
    if (shouldRun) {
      live.resume()
      refresh.resume()
    } else {
      live.pause()
      refresh.pause()
      setState('paused')
    }
  }
  document.addEventListener('visibilitychange', follow)
  session.onChange((change) => {
    if (change !== 'lapsed' && change !== 'resumed') {
      // Another person receives other events and must not see cached data of the previous one.
      live.close()
      queries.clear()
    }
    follow()
    if (change === 'resumed') refresh.staleAll()
  })
  follow()

  return {
    state: () => state,
    onState: (listener) => subscribe(stateListeners, listener),
    onEvent: (listener) => subscribe(eventListeners, listener),
  }
}

/** In the tab's session storage, so that a reload requests only the missed events. */
function positionIn(storage: Storage): Position {
  return {
    read() {
      try {
        return storage.getItem(positionKey)
      } catch {
        return null
      }
    },
    write(id) {
      try {
        if (id === null) storage.removeItem(positionKey)
        else storage.setItem(positionKey, id)
      } catch {
        // Without a stored position the next page of this tab refetches everything.
      }
    },
  }
}

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
}
