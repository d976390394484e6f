import { ContainerError } from '../port.ts'
import { type Api, Idle, type Kind, type Selection } from './api.ts'
import { ApiRefusal } from './faults.ts'
import type { Entry, Status } from './objects.ts'

export type Change<T> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }

/** The server ends a watch after about this time, which spreads long watches over several servers. */
const lifetimeSeconds = 280
/** Servers send a bookmark about every minute, so a longer silence means a dead connection. */
const idleSeconds = 150
const shortMs = 1_000

export type WatchOptions = {
  /** From a list, or the last change that was seen. */
  resourceVersion: string
  signal: AbortSignal
  onlyMetadata?: boolean
  /** Called when the server has accepted the watch, and each later one. */
  onOpen?: () => void
  lifetimeSeconds?: number
  idleSeconds?: number
}

/**
 * Yields every change after a resource version, until the signal aborts. A regular end or a silent connection is
 * resumed without a gap. Throws `ContainerError` when the connection breaks or the version is too old (410): the
 * caller then lists again.
 */
export async function* watch<T extends Entry>(
  api: Api,
  kind: Kind,
  selection: Selection,
  options: WatchOptions,
): AsyncGenerator<Change<T>> {
  const { signal, onlyMetadata, onOpen } = options
  let { resourceVersion } = options
  while (!signal.aborted) {
    // Spread, so that watches which began together do not end together.
    const timeoutSeconds = Math.round((options.lifetimeSeconds ?? lifetimeSeconds) * (1 + Math.random() / 4))
    const query = { ...selection, resourceVersion, timeoutSeconds }
    const lines = api.watch(kind, query, {
      ...{ signal, onlyMetadata, onOpen },
      idleSeconds: options.idleSeconds ?? idleSeconds,
    })
    const openedAt = performance.now()
    let isEmpty = true
    try {
      for await (const line of lines) {
        if (line === '') continue
        isEmpty = false
        const { type, object } = readChange<T>(kind, line)
        resourceVersion = object.metadata.resourceVersion
        if (type !== 'BOOKMARK') yield { type, object }
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof Idle)) throw error
    }
    // A proxy may close every watch. Without this error the loop would never pause.
    if (isEmpty && performance.now() - openedAt < shortMs)
      throw new ContainerError('engine_down', `watch ${kind}: the connection was closed immediately`)
  }
}

type Line<T> = { type: Change<T>['type'] | 'BOOKMARK'; object: T }

function readChange<T extends Entry>(kind: Kind, line: string): Line<T> {
  let change: { type?: string; object?: unknown }
  try {
    change = JSON.parse(line) as typeof change
  } catch (cause) {
    throw new ContainerError('engine_down', `watch ${kind}: a line is not valid JSON`, { cause })
  }
  const { type, object } = change
  if (type === 'ERROR') {
    const status = object as Status
    throw new ApiRefusal(`watch ${kind}`, status.code ?? 500, status)
  }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK')
    throw new ContainerError('engine_fault', `watch ${kind}: unknown change ${JSON.stringify(type)}`)
  // The API documents the type for this path.
  return { type, object: object as T }
}
