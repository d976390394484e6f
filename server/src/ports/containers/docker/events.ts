import type Docker from 'dockerode'
import { type Clock, systemClock } from '../../../kit/clock.ts'
import { retryDelayMs } from '../backoff.ts'
import type { ContainerEvent } from '../port.ts'
import { type Ask, toContainerError } from './connect.ts'

/** One line of the engine's event stream, as far as it is read here. */
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
  /** The engine's own record of the last end, false when it cannot be had. Asked when events leave it open. */
  wasOomKilled(id: string): Promise<boolean>
  clock?: Clock
}

/** How long a connection must hold before the next break counts as the first one again. */
const steadyMs = 5_000
/** An earlier victim of the memory killer inside the container explains an end this long. */
const oomExplainsMs = 5_000
/** The engine learns of the memory killer on another path than of the exit: its word may come this much later. */
const oomLateMs = 60

/** See `Containers.events`: resync at each connection, then what the engine reports, for ever. */
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
        // A broken stream is what the next turn of the loop is for.
      } finally {
        connection.close()
      }
      if (Date.now() - openedAt > steadyMs) attempt = 0
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
          // The engine answers a moment before it listens: events of that moment are asked for by time.
          since: Date.now() / 1000,
          filters: {
            type: ['container'],
            label: [`roost.install=${install}`],
            // Podman filters by its own words, and then answers with Docker's.
            event: ['start', 'die', 'died', 'oom', 'kill', 'destroy', 'remove'],
          },
          abortSignal: controller.signal,
        }),
      { signal },
    )
    // An abort between two reads must not become an error that nobody listens to.
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
      // The cast is the reading of a foreign format: every field is optional and checked where used.
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
        const seenAt = killedForMemoryAt.get(id)
        let oomKilled = exitCode !== 0 && seenAt !== undefined && time - seenAt < oomExplainsMs
        if (!oomKilled && exitCode === 137 && !killedByRequest.has(id)) {
          oomKilled = (await source.wasOomKilled(id)) || (await later(clock, () => source.wasOomKilled(id)))
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

async function later(clock: Clock, question: () => Promise<boolean>): Promise<boolean> {
  await clock.wait(oomLateMs)
  return question()
}

function exitCodeOf(attributes: Record<string, string>): number | null {
  const text = attributes.exitCode ?? attributes.containerExitCode
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : null
}
