/** A message on `/ws`: an event or a control message. */
export type LiveEvent = { type: string; _eid?: string; agent_name?: string } & Record<string, unknown>

/**
 * `open`: events arrive. `down`: reconnecting, so pages poll. `paused`: the tab is hidden and requests
 * nothing.
 */
export type LiveState = 'open' | 'down' | 'paused'

export type LiveDeps = {
  /** Returns a single-use ticket. Throws when none is available. */
  ticket(): Promise<string>
  connect(url: string): WebSocket
  /** `ws:` or `wss:` with host. */
  origin: string
  onEvent(event: LiveEvent): void
  /** Missed events cannot be replayed: everything shown is stale. */
  onGap(): void
  onState(state: LiveState): void
  /** The last position of this tab, which survives a reload. */
  position: Position
  wait(ms: number, signal: AbortSignal): Promise<void>
  random(): number
}

/** The id of the last event received; null when unknown. */
export type Position = { read(): string | null; write(id: string | null): void }

export type Live = {
  /** Opens the socket and keeps it open. Idempotent. */
  resume(): void
  /** Closes the socket until `resume`, which continues after the last event received. */
  pause(): void
  close(): void
}

const firstDelayMs = 500
const longestDelayMs = 15_000

/**
 * The only socket of this tab. Reconnects forever with growing, jittered delays and requests the missed
 * events, so that pages need not handle breaks.
 */
export function createLive(deps: LiveDeps): Live {
  let lastEventId = deps.position.read()
  let running: AbortController | null = null

  function setPosition(id: string | null): void {
    lastEventId = id
    deps.position.write(id)
  }

  async function run(signal: AbortSignal): Promise<void> {
    let delay = firstDelayMs
    while (!signal.aborted) {
      const lived = await connectOnce(signal)
      if (signal.aborted) return
      deps.onState('down')
      delay = lived ? firstDelayMs : Math.min(longestDelayMs, delay * 2)
      await deps.wait(delay * (0.5 + deps.random()), signal).catch(() => {})
    }
  }

  /** Resolves when the socket has closed: true when it was open before. */
  async function connectOnce(signal: AbortSignal): Promise<boolean> {
    const ticket = await deps.ticket().catch(() => null)
    if (ticket === null || signal.aborted) return false
    const query = new URLSearchParams({ ticket })
    if (lastEventId !== null) query.set('last_event_id', lastEventId)
    const socket = deps.connect(`${deps.origin}/ws?${query}`)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    let wasOpen = false
    /** The position at which this socket started, until its first event. */
    let begun: string | null = null
    const abort = () => socket.close(1000)
    signal.addEventListener('abort', abort, { once: true })
    socket.addEventListener('message', ({ data }) => {
      const event = parse(data)
      if (!event) return
      if (event.type === 'connected') {
        wasOpen = true
        begun = event._eid ?? null
        deps.onState('open')
        // No event reports changes between the page's first requests and now. Later this id is ignored: it is
        // newer than the events that are replayed after it.
        if (lastEventId === null) {
          setPosition(event._eid ?? null)
          deps.onGap()
        }
        return
      }
      if (typeof event._eid === 'string') {
        begun = null
        setPosition(event._eid)
      }
      if (event.type === 'resync_required') {
        // The requested position is no longer available: the next attempt must not request it again.
        if (begun !== null) setPosition(begun)
        deps.onGap()
      } else if (event.type !== 'pong') deps.onEvent(event)
    })
    socket.addEventListener('close', () => resolve(wasOpen), { once: true })
    const result = await promise
    signal.removeEventListener('abort', abort)
    return result
  }

  return {
    resume() {
      if (running) return
      running = new AbortController()
      deps.onState('down')
      void run(running.signal)
    },
    pause() {
      if (!running) return
      running.abort()
      running = null
      deps.onState('paused')
    },
    close() {
      running?.abort()
      running = null
      setPosition(null)
    },
  }
}

function parse(data: unknown): LiveEvent | null {
  if (typeof data !== 'string') return null
  try {
    const value: unknown = JSON.parse(data)
    // The platform's messages are flat objects with a type.
    return typeof value === 'object' && value !== null && 'type' in value ? (value as LiveEvent) : null
  } catch {
    return null
  }
}
