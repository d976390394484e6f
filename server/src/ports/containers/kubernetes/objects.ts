/** The fields of Kubernetes objects that the adapter reads. The API may send any number of others. */
export type Metadata = {
  name: string
  uid: string
  resourceVersion: string
  creationTimestamp?: string
  /** When the object is to be gone: the deletion's request plus its grace period. */
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

/** What the API sends of any object when only metadata is requested. */
export type Entry = { metadata: Metadata }

export type List<T> = { metadata: { resourceVersion: string; continue?: string }; items: T[] }

export type Pod = Entry & {
  spec: { nodeName?: string; containers?: PodContainer[] }
  status?: PodStatus
}

export type PodContainer = { name: string; env?: { name: string; value?: string }[] }

export type PodStatus = {
  phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'
  reason?: string
  message?: string
  conditions?: Condition[]
  containerStatuses?: ContainerStatus[]
  initContainerStatuses?: ContainerStatus[]
}

export type Condition = {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export type ContainerStatus = {
  name: string
  containerID?: string
  state?: RunState
  /** The state of the run before the current one. */
  lastState?: RunState
}

export type RunState = {
  waiting?: { reason?: string; message?: string }
  running?: { startedAt: string }
  terminated?: Terminated
}

export type Terminated = {
  exitCode: number
  reason?: string
  message?: string
  startedAt?: string
  finishedAt?: string
  containerID?: string
}

export type Claim = Entry & { spec: { accessModes?: string[] } }

export type Node = Entry & {
  status?: { allocatable?: { cpu?: string; memory?: string }; conditions?: Condition[] }
}

/** The body of a refusal, and of an `ERROR` in a watch. */
export type Status = {
  code?: number
  reason?: string
  message?: string
  details?: { retryAfterSeconds?: number }
}

/** A quantity such as `250m`, `2`, `512Mi` or `1e9`, as a number; null for other texts. */
export function quantity(text: string | undefined): number | null {
  const [, digits = '', suffix = ''] = /^(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(text ?? '') ?? []
  const factor = factors[suffix]
  return digits === '' || factor === undefined ? null : Number(digits) * factor
}

const factors: Record<string, number> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
  Pi: 1024 ** 5,
  Ei: 1024 ** 6,
}
