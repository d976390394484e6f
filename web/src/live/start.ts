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

/** How often everything that is shown is asked for again while no events arrive. */
const pollMs = 15_000
const positionKey = 'roost.position'

/**
 * Keeps queries true: by events while the socket is open, by asking every 15 s while it is not, and not at
 * all while the tab is hidden or nobody is signed in.
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
    // What is shown by intervals of its own is refused until the person is back: it rests as in a hidden tab.
    focusManager.setFocused(session.isLapsed() ? false : undefined)
    const isWanted = document.visibilityState === 'visible' && session.token() !== null
    if (isWanted) {
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
      // Another person sees other events, and must see nothing of the one before.
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

/** Kept by the tab, so that a reload asks for what it missed and not for everything twice. */
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
        // The next page of this tab asks for everything.
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
