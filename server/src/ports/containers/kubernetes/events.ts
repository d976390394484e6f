import type { Clock } from '../../../kit/clock.ts'
import { retryDelayMs } from '../backoff.ts'
import { ContainerError, type ContainerEvent, type ContainerWaiting } from '../port.ts'
import type { Api, Selection } from './api.ts'
import type { Entry, Pod } from './objects.ts'
import { type EndedRun, idLabel, nameNote, readRecord } from './record.ts'
import { isWanted, lost, pending, type Run, runsOf } from './state.ts'
import { type Change, watch } from './watch.ts'

export type EventSource = {
  api: Api
  /** Secrets and pods of this installation's containers. */
  records: Selection
  pods: Selection
  clock: Clock
}

/** A connection that lasts this long resets the backoff. */
const stableMs = 5_000

/**
 * See `Containers.events`. Two watches: pods for starts, ends and waits, records for removals.
 */
export async function* followEvents(
  source: EventSource,
  signal: AbortSignal,
): AsyncGenerator<ContainerEvent> {
  const { api, clock } = source
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const openedAt = performance.now()
    const ending = new AbortController()
    const either = AbortSignal.any([signal, ending.signal])
    try {
      const options = { signal: either, onlyMetadata: true }
      const [records, pods] = await Promise.all([
        api.list<Entry>('secrets', source.records, options),
        api.list<Pod>('pods', source.pods, { signal: either }),
      ])
      const follower = createFollower(clock, pods.items)
      const [podsOpen, recordsOpen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const events = merged(
        eventsOf(
          watch<Pod>(api, 'pods', source.pods, {
            ...{ resourceVersion: pods.metadata.resourceVersion, signal: either },
            onOpen: podsOpen.resolve,
          }),
          follower.pod,
        ),
        eventsOf(
          watch<Entry>(api, 'secrets', source.records, {
            ...{ resourceVersion: records.metadata.resourceVersion, ...options },
            onOpen: recordsOpen.resolve,
          }),
          removals(clock),
        ),
      )
      // Reading opens the connections. The caller lists only then, so it can rely on hearing of later changes.
      const first = events.next()
      await Promise.race([Promise.all([podsOpen.promise, recordsOpen.promise]), first])
      yield { type: 'resync' }
      const next = await first
      if (!next.done) yield next.value
      yield* events
    } catch (error) {
      // The next iteration lists again.
      if (!(error instanceof ContainerError)) throw error
    } finally {
      ending.abort()
    }
    if (performance.now() - openedAt > stableMs) attempt = 0
    await clock.wait(retryDelayMs(attempt), signal)
  }
}

/** Compares each change with what is known of the container's runs. */
function createFollower(clock: Pick<Clock, 'now'>, pods: readonly Pod[]) {
  const known = new Map<string, { runs: Map<string, Run>; wait: string | null; isLost: boolean }>()
  const at = () => clock.now().toISOString()
  const remember = (pod: Pod) => {
    const runs = new Map(runsOf(pod).map((run) => [run.containerId, run]))
    const wait = waitOf(pod)
    known.set(pod.metadata.uid, { runs, wait: wait?.reason ?? null, isLost: wait?.status === 'lost' })
  }
  for (const pod of pods) remember(pod)

  return {
    *pod({ type, object: pod }: Change<Pod>): Generator<ContainerEvent> {
      const { labels = {}, annotations = {} } = pod.metadata
      const subject = { id: labels[idLabel] ?? '', name: annotations[nameNote] ?? '' }
      const before = known.get(pod.metadata.uid)
      const runs = runsOf(pod)
      for (const { containerId, end } of runs) {
        const run = before?.runs.get(containerId)
        if (!run) yield { type: 'started', ...subject, at: at() }
        if (end && !run?.end) yield { type: 'exited', ...subject, ...resultOf(end), at: at() }
      }
      const last = runs.at(-1)
      if (type === 'DELETED') {
        // Removed by force, or its node was: the result is unknown.
        if (last && !last.end) yield { type: 'exited', ...subject, ...resultOf(null), at: at() }
        known.delete(pod.metadata.uid)
        return
      }
      remember(pod)
      const wait = waitOf(pod)
      if (wait && wait.reason !== before?.wait)
        yield { type: 'waiting', ...subject, status: wait.status, reason: wait.reason, at: wait.since }
      // Its node responds again, with the run that was there before.
      const isBack = !wait && before?.isLost && last?.end === null && before.runs.has(last.containerId)
      if (isBack) yield { type: 'started', ...subject, at: at() }
    },
  }
}

/** Null also while a node prepares the container in the usual way, which is no news. */
function waitOf(pod: Pod): (ContainerWaiting & { status: 'pending' | 'lost' }) | null {
  const isLost = lost(pod)
  if (isLost) return { status: 'lost', ...isLost }
  if (!isWanted(pod) || runsOf(pod).length > 0) return null
  const { reason, since, isObstacle } = pending(pod)
  return isObstacle ? { status: 'pending', reason, since } : null
}

const resultOf = (end: EndedRun | null) => ({
  exitCode: end?.exitCode ?? null,
  oomKilled: end?.oomKilled ?? false,
})

const removals = (clock: Pick<Clock, 'now'>) =>
  function* ({ type, object }: Change<Entry>): Generator<ContainerEvent> {
    const record = type === 'DELETED' ? readRecord(object) : null
    if (record) yield { type: 'removed', id: record.id, name: record.name, at: clock.now().toISOString() }
  }

async function* eventsOf<T>(
  changes: AsyncGenerator<Change<T>>,
  read: (change: Change<T>) => Generator<ContainerEvent>,
): AsyncGenerator<ContainerEvent> {
  for await (const change of changes) yield* read(change)
}

/** Takes from whichever is first. Holds at most one item of each, so a slow reader slows the connections. */
async function* merged<T>(...sources: AsyncGenerator<T>[]): AsyncGenerator<T> {
  const next = new Map(sources.map((source) => [source, source.next()]))
  try {
    while (next.size > 0) {
      const { source, result } = await Promise.race(
        [...next].map(async ([source, pending]) => ({ source, result: await pending })),
      )
      if (result.done) {
        next.delete(source)
        continue
      }
      next.set(source, source.next())
      yield result.value
    }
  } finally {
    for (const [source, pending] of next) {
      // Fails when the connection is closed, which nobody awaits.
      pending.catch(() => {})
      source.return(undefined).catch(() => {})
    }
  }
}
