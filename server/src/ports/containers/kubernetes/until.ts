import type { Clock } from '../../../kit/clock.ts'
import { retryDelayMs } from '../backoff.ts'
import { ContainerError } from '../port.ts'
import type { Api, Kind, Selection } from './api.ts'
import { isStatus } from './faults.ts'
import type { Entry } from './objects.ts'
import { watch } from './watch.ts'

/** The last known content of an object, also after its deletion. */
export type Seen<T> = { object: T; isGone: boolean }

export type UntilOptions = {
  seconds: number
  clock: Pick<Clock, 'wait'>
  /** Runs once between the first list and the watch, so that no effect of it is missed. */
  act?: () => Promise<void>
}

/**
 * Calls `decide` with the selected objects, as listed and after each change, until it returns a value. Returns null
 * after `seconds`, or when the client is closed. Lists again after an interruption; throws if the API never answered or
 * refuses.
 */
export async function untilObjects<T extends Entry, Result>(
  api: Api,
  kind: Kind,
  selection: Selection,
  options: UntilOptions,
  decide: (seen: Seen<T>[]) => Result | null,
): Promise<Result | null> {
  const deadline = AbortSignal.any([AbortSignal.timeout(options.seconds * 1000), api.closed])
  const seen = new Map<string, Seen<T>>()
  let act = options.act
  for (let attempt = 0; ; attempt += 1) {
    try {
      const { items, metadata } = await api.list<T>(kind, selection)
      for (const each of seen.values()) each.isGone = true
      for (const object of items) seen.set(object.metadata.uid, { object, isGone: false })
      await act?.()
      act = undefined
      const first = decide([...seen.values()])
      if (first !== null) return first
      const { resourceVersion } = metadata
      const changes = watch<T>(api, kind, selection, { resourceVersion, signal: deadline })
      for await (const { type, object } of changes) {
        attempt = 0
        seen.set(object.metadata.uid, { object, isGone: type === 'DELETED' })
        const result = decide([...seen.values()])
        if (result !== null) return result
      }
      return null
    } catch (error) {
      const isPassing =
        (error instanceof ContainerError && error.fault === 'engine_down') || isStatus(error, 410)
      if (!isPassing || act || deadline.aborted) throw error
      await options.clock.wait(retryDelayMs(attempt), deadline)
    }
  }
}
