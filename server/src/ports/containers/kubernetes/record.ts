import { createHash } from 'node:crypto'
import type { ContainerSpec } from '../port.ts'
import type { Entry } from './objects.ts'

/**
 * What the cluster stores of a container, from `create` to `remove`: the Secret `roost-<name>`. Its name claims the
 * container's name. Its data is the environment, everything else is in labels and annotations.
 */
export type ContainerRecord = {
  /** Name and uid of the Secret. */
  secret: { name: string; uid: string; resourceVersion: string }
  id: string
  name: string
  spec: StoredSpec
  /** Whether a pod was ever requested. */
  wasStarted: boolean
  /**
   * Marks the pods since the last known end; null when no container can run any more. While it is set and no pod
   * exists, one may still run on a node that the cluster has given up.
   */
  openRun: string | null
  /** The last run that ended; null without one. */
  lastRun: EndedRun | null
  /** Pods on unreachable nodes that another one replaced. If they return, they end by themselves. */
  superseded: readonly string[]
}

/** `variables`: names of the environment. Missing in records of 0.1.0, whose data has these names itself. */
export type StoredSpec = Omit<ContainerSpec, 'env'> & { variables?: string[] }

/** `exitCode` is null when the pod disappeared without a result. */
export type EndedRun = { startedAt: string | null; exitCode: number | null; oomKilled: boolean }

export const installLabel = 'roost.install'
export const idLabel = 'roost.id'
export const kindLabel = 'roost.kind'
/** `open` or `closed`: selects the network policy of a pod. */
export const networkLabel = 'roost.network'
/** On pods: present while a drain should wait. A PodDisruptionBudget of the chart selects it. */
export const busyLabel = 'roost.busy'
const specNote = 'roost.spec'
/** On pods: the container's name. */
export const nameNote = 'roost.name'
/** On pods: present if another node can mount their volumes too. */
export const movableNote = 'roost.movable'
/** On records and pods: the value of `openRun`. */
export const startedNote = 'roost.started'
/** On pods: digest of the operator's settings that the pod was made with. */
export const settingsNote = 'roost.settings'
const endedNote = 'roost.ended'
const lastRunNote = 'roost.last-run'
const supersededNote = 'roost.superseded'

export function secretFor(spec: ContainerSpec, id: string, install: string) {
  const { env, ...rest } = spec
  const stored: StoredSpec = { ...rest, variables: Object.keys(env) }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: secretName(spec.name),
      labels: { ...ownLabels(install), [kindLabel]: 'container', [idLabel]: id },
      annotations: { [specNote]: JSON.stringify(stored) },
    },
    type: 'roost/container',
    // Not immutable: nodes would never read a later Secret with this name as long as a pod of the earlier one ends.
    stringData: Object.fromEntries(
      Object.entries(env).map(([variable, value]) => [dataKey(id, variable), value]),
    ),
  }
}

/**
 * Where the Secret has a variable. A node that still has an earlier Secret with this name finds no such key and reads
 * again, instead of starting the pod with the earlier keys.
 */
export const dataKey = (id: string, variable: string) => `${variable}.${id}`

export const secretName = (container: string) => `roost-${objectName(container)}`

/**
 * A name as Kubernetes accepts it. Names of agents may also have underscores and end with a hyphen; those get a digest,
 * because two of them could otherwise become the same.
 */
export function objectName(name: string): string {
  if (/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name)) return name
  const legal = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `${legal}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
}

export const ownLabels = (install: string) => ({
  [installLabel]: install,
  'app.kubernetes.io/managed-by': 'roost',
})

/** Null for a Secret that the adapter did not write. */
export function readRecord({ metadata }: Entry): ContainerRecord | null {
  const { name, uid, resourceVersion, annotations = {} } = metadata
  const id = metadata.labels?.[idLabel]
  const spec = parsed<StoredSpec>(annotations[specNote])
  const started = annotations[startedNote]
  if (id === undefined || spec === null) return null
  return {
    secret: { name, uid, resourceVersion },
    id,
    name: spec.name,
    spec,
    wasStarted: started !== undefined,
    openRun: started === undefined || started === annotations[endedNote] ? null : started,
    lastRun: parsed<EndedRun>(annotations[lastRunNote]),
    superseded: parsed<string[]>(annotations[supersededNote]) ?? [],
  }
}

/** Patches of a record. Repeated ones change nothing, not even the resource version. */
export const startedPatch = (record: ContainerRecord) => notes({ [startedNote]: runMark(record) })

/** `run` is null when nothing ran, `ended` when an older container may still run. */
export const endedPatch = (run: EndedRun | null, ended: string | null) =>
  notes({
    ...(run && { [lastRunNote]: JSON.stringify(run) }),
    ...(ended !== null && { [endedNote]: ended }),
  })

/** The pods may still run, so the record has an open run from then on. */
export const supersededPatch = (record: ContainerRecord, podUids: readonly string[]) =>
  notes({ [supersededNote]: JSON.stringify(podUids.toSorted()), [startedNote]: runMark(record) })

/** Concurrent starts read the same version, so they write the same mark. */
const runMark = ({ openRun, secret }: ContainerRecord) => openRun ?? secret.resourceVersion

const notes = (annotations: Record<string, string>) => ({ metadata: { annotations } })

function parsed<T>(text: string | undefined): T | null {
  if (text === undefined) return null
  try {
    // Written by this file.
    return JSON.parse(text) as T
  } catch {
    return null
  }
}
