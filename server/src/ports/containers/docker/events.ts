import type Docker from 'dockerode'
import { type Clock, systemClock } from '../../../kit/clock.ts'
import { retryDelayMs } from '../backoff.ts'
import type { ContainerEvent } from '../port.ts'
import { type Ask, toContainerError } from './connect.ts'

/** The fields of an engine event that are read here. */
type EngineEvent = {
  Action?: string
  status?: string
  id?: string
  Actor?: { ID?: string; Attributes?: Record<string, string> }
  timeNano?: number
}

export type EventSource = {
  docker: Docker
  ask: Ask
  install: string
  /**
   * Asks the engine whether the last end was an out-of-memory kill; false when unknown. Used when events do
   * not say.
   */
  wasOomKilled(id: string): Promise<boolean>
  clock?: Clock
}

/** A connection that lasts this long resets the backoff. */
const stableMs = 5_000
/** An out-of-memory kill in the container explains an exit within this time. */
const oomWindowMs = 5_000
/** The engine learns of out-of-memory kills separately from the exit, up to this much later. */
const oomDelayMs = 60

/** See `Containers.events`: yields resync for each connection, then the engine's events, until aborted. */
export async function* followEngineEvents(
  source: EventSource,
  signal: AbortSignal,
): AsyncGenerator<ContainerEvent> {
  const clock = source.clock ?? systemClock
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const openedAt = Date.now()
    const connection = await openStream(source, signal).catch(() => null)
    if (connection) {
      try {
        yield { type: 'resync' }
        yield* translate(source, clock, readEvents(connection.stream))
      } catch {
        // The next iteration reconnects.
      } finally {
        connection.close()
      }
      if (Date.now() - openedAt > stableMs) attempt = 0
    }
    await clock.wait(retryDelayMs(attempt), signal)
  }
}

async function openStream({ docker, ask, install }: EventSource, signal: AbortSignal) {
  const controller = new AbortController()
  const stop = () => controller.abort()
  signal.addEventListener('abort', stop, { once: true })
  const close = () => {
    signal.removeEventListener('abort', stop)
    controller.abort()
  }
  try {
    const stream = await ask(
      'follow events',
      () =>
        docker.getEvents({
          // The engine responds slightly before it listens; `since` covers that gap.
          since: Date.now() / 1000,
          filters: {
            type: ['container'],
            label: [`roost.install=${install}`],
            // Podman filters by its own event names but reports Docker's.
            event: ['start', 'die', 'died', 'oom', 'kill', 'destroy', 'remove'],
          },
          abortSignal: controller.signal,
        }),
      { signal },
    )
    // Prevents an unhandled error when aborted between two reads.
    stream.on('error', () => {})
    return { stream, close }
  } catch (error) {
    close()
    throw toContainerError('follow events', error)
  }
}

async function* readEvents(stream: NodeJS.ReadableStream): AsyncGenerator<EngineEvent> {
  stream.setEncoding('utf8')
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      // Every field is optional and checked where used.
      if (line.trim() !== '') yield JSON.parse(line) as EngineEvent
    }
  }
}

async function* translate(
  source: EventSource,
  clock: Clock,
  events: AsyncGenerator<EngineEvent>,
): AsyncGenerator<ContainerEvent> {
  const killedForMemoryAt = new Map<string, number>()
  const killedByRequest = new Set<string>()
  for await (const event of events) {
    const id = event.Actor?.ID ?? event.id
    const attributes = event.Actor?.Attributes ?? {}
    if (!id) continue
    const name = attributes.name ?? ''
    const time = event.timeNano ? event.timeNano / 1e6 : Date.now()
    const at = new Date(time).toISOString()
    switch (event.Action ?? event.status) {
      case 'start':
        killedForMemoryAt.delete(id)
        killedByRequest.delete(id)
        yield { type: 'started', id, name, at }
        break
      case 'oom':
        killedForMemoryAt.set(id, time)
        break
      case 'kill':
        killedByRequest.add(id)
        break
      case 'die':
      case 'died': {
        const exitCode = exitCodeOf(attributes)
        const killedAt = killedForMemoryAt.get(id)
        let oomKilled = exitCode !== 0 && killedAt !== undefined && time - killedAt < oomWindowMs
        if (!oomKilled && exitCode === 137 && !killedByRequest.has(id)) {
          oomKilled =
            (await source.wasOomKilled(id)) || (await retryLater(clock, () => source.wasOomKilled(id)))
        }
        yield { type: 'exited', id, name, exitCode, oomKilled, at }
        break
      }
      case 'destroy':
      case 'remove':
        killedForMemoryAt.delete(id)
        killedByRequest.delete(id)
        yield { type: 'removed', id, name, at }
        break
    }
  }
}

async function retryLater(clock: Clock, check: () => Promise<boolean>): Promise<boolean> {
  await clock.wait(oomDelayMs)
  return check()
}

function exitCodeOf(attributes: Record<string, string>): number | null {
  const text = attributes.exitCode ?? attributes.containerExitCode
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : null
}
