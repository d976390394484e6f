import type { Clock } from '../../../kit/clock.ts'
import { retryDelayMs } from '../backoff.ts'
import { ContainerError, type ContainerEvent, type ContainerWaiting } from '../port.ts'
import type { Api, Selection } from './api.ts'
import type { Entry, Pod } from './objects.ts'
import { type EndedRun, idLabel, nameNote, readRecord } from './record.ts'
import { exceededItsDisk, isWanted, lost, pending, type Run, runsOf } from './state.ts'
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

/** See `Containers.events`. Watches pods for starts, ends and waits, and records for removals. */
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
      const follower = createFollower(clock, records.items, pods.items)
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
          follower.record,
        ),
      )
      // Reading opens the connections. The caller lists after `resync`, so that it misses no later change.
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
function createFollower(clock: Pick<Clock, 'now'>, records: readonly Entry[], pods: readonly Pod[]) {
  const known = new Map<string, { runs: Map<string, Run>; wait: string | null; isLost: boolean }>()
  const at = () => clock.now().toISOString()
  const remember = (pod: Pod) => {
    const runs = new Map(runsOf(pod).map((run) => [run.containerId, run]))
    const wait = waitOf(pod)
    known.set(pod.metadata.uid, { runs, wait: wait?.reason ?? null, isLost: wait?.status === 'lost' })
  }
  for (const pod of pods) remember(pod)
  const superseded = new Set(records.flatMap((entry) => readRecord(entry)?.superseded ?? []))

  return {
    *pod({ type, object: pod }: Change<Pod>): Generator<ContainerEvent> {
      // Another pod replaced this one as the container, so its changes are ignored.
      if (superseded.has(pod.metadata.uid)) return
      const { labels = {}, annotations = {} } = pod.metadata
      const subject = { id: labels[idLabel] ?? '', name: annotations[nameNote] ?? '' }
      const before = known.get(pod.metadata.uid)
      const runs = runsOf(pod)
      const current = new Set(runs.map(({ containerId }) => containerId))
      const exited = (end: EndedRun | null): ContainerEvent => ({
        ...{ type: 'exited', ...subject, ...resultOf(end), at: at() },
        // A pod that exceeds its own limits has crashed: an immediate restart would repeat that for ever.
        isEvicted: (type === 'DELETED' || !isWanted(pod)) && !exceededItsDisk(pod),
      })
      // The node forgot the run before it reported the end.
      for (const { containerId, end } of before?.runs.values() ?? [])
        if (!end && !current.has(containerId)) yield exited(null)
      for (const { containerId, end } of runs) {
        const run = before?.runs.get(containerId)
        if (!run) yield { type: 'started', ...subject, at: at() }
        if (end && !run?.end) yield exited(end)
      }
      const last = runs.at(-1)
      if (type === 'DELETED') {
        // The pod or its node was removed by force: the result is unknown.
        if (last && !last.end) yield exited(null)
        known.delete(pod.metadata.uid)
        return
      }
      remember(pod)
      const wait = waitOf(pod)
      if (wait && wait.reason !== before?.wait) yield { type: 'waiting', ...subject, ...newsOf(wait) }
      // Its node responds again, with the run that was there before.
      const isBack = !wait && before?.isLost && last?.end === null && before.runs.has(last.containerId)
      if (isBack) yield { type: 'started', ...subject, at: at() }
    },

    *record({ type, object }: Change<Entry>): Generator<ContainerEvent> {
      const record = readRecord(object)
      if (!record) return
      for (const uid of record.superseded) superseded.add(uid)
      if (type === 'DELETED') yield { type: 'removed', id: record.id, name: record.name, at: at() }
    },
  }
}

type Wait = ContainerWaiting & { status: 'pending' | 'lost' }

/** Also null while a node prepares the container in the usual way, which is not reported. */
function waitOf(pod: Pod): Wait | null {
  const isLost = lost(pod)
  if (isLost) return { status: 'lost', ...isLost }
  if (!isWanted(pod) || runsOf(pod).length > 0) return null
  const { isObstacle, ...wait } = pending(pod)
  return isObstacle ? { status: 'pending', ...wait } : null
}

function newsOf({ status, reason, canMove, since }: Wait) {
  return { status, reason, canMove, at: since }
}

const resultOf = (end: EndedRun | null) => ({
  exitCode: end?.exitCode ?? null,
  oomKilled: end?.oomKilled ?? false,
})

async function* eventsOf<T>(
  changes: AsyncGenerator<Change<T>>,
  read: (change: Change<T>) => Generator<ContainerEvent>,
): AsyncGenerator<ContainerEvent> {
  for await (const change of changes) yield* read(change)
}

/** Yields items in the order of arrival. Holds at most one of each source, so a slow reader slows the connections. */
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
      // Rejects when the connection is closed; nothing awaits it.
      pending.catch(() => {})
      source.return(undefined).catch(() => {})
    }
  }
}
