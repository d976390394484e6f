/** What the platform sends over `/ws`: an event, or a control message. */
export type LiveEvent = { type: string; _eid?: string; agent_name?: string } & Record<string, unknown>

/**
 * `open`: events arrive. `down`: they do not, and a new attempt is under way or planned; pages poll
 * meanwhile. `paused`: the tab is hidden and asks for nothing.
 */
export type LiveState = 'open' | 'down' | 'paused'

export type LiveDeps = {
  /** A single-use ticket. Throws when there is none to be had now. */
  ticket(): Promise<string>
  connect(url: string): WebSocket
  /** `ws:` or `wss:` with host. */
  origin: string
  onEvent(event: LiveEvent): void
  /** What was missed cannot be told any more: everything that is shown is stale. */
  onGap(): void
  onState(state: LiveState): void
  /** Where the page that was here before in this tab has left off, for the one that is here now. */
  position: Position
  wait(ms: number, signal: AbortSignal): Promise<void>
  random(): number
}

/** The id of the last event that was seen; null: none is known. */
export type Position = { read(): string | null; write(id: string | null): void }

export type Live = {
  /** Opens the socket and keeps it open; a second call changes nothing. */
  resume(): void
  /** Closes the socket until `resume`; the next one begins behind the last event that was seen. */
  pause(): void
  close(): void
}

const firstDelayMs = 500
const longestDelayMs = 15_000

/**
 * The one socket of this tab. It reconnects for ever with growing, jittered pauses and asks for what it
 * missed, so that a page never has to know that there was a break.
 */
export function createLive(deps: LiveDeps): Live {
  let lastEventId = deps.position.read()
  let running: AbortController | null = null

  function keep(id: string | null): void {
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

  /** Resolves when the socket has closed: true when it had been open. */
  async function connectOnce(signal: AbortSignal): Promise<boolean> {
    const ticket = await deps.ticket().catch(() => null)
    if (ticket === null || signal.aborted) return false
    const query = new URLSearchParams({ ticket })
    if (lastEventId !== null) query.set('last_event_id', lastEventId)
    const socket = deps.connect(`${deps.origin}/ws?${query}`)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    let wasOpen = false
    /** Where this socket began, until its first event. */
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
        // What happened between the page's first requests and now is told by no event. Afterwards the
        // position is that of the last event seen: this message's own is ahead of what is replayed.
        if (lastEventId === null) {
          keep(event._eid ?? null)
          deps.onGap()
        }
        return
      }
      if (typeof event._eid === 'string') {
        begun = null
        keep(event._eid)
      }
      if (event.type === 'resync_required') {
        // What was asked for is not to be had: the next attempt must not ask for it again.
        if (begun !== null) keep(begun)
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
      keep(null)
    },
  }
}

function parse(data: unknown): LiveEvent | null {
  if (typeof data !== 'string') return null
  try {
    const value: unknown = JSON.parse(data)
    // The platform's own envelope: a flat object with its type.
    return typeof value === 'object' && value !== null && 'type' in value ? (value as LiveEvent) : null
  } catch {
    return null
  }
}
