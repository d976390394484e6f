import type { ContainerState, ContainerWaiting } from '../port.ts'
import type { Condition, ContainerStatus, Pod, RunState } from './objects.ts'
import { agentContainer } from './pod.ts'
import { type ContainerRecord, type EndedRun, installLabel, movableNote } from './record.ts'

/** One run of the agent's container in a pod. `end` is null while it runs. */
export type Run = { containerId: string; startedAt: string | null; end: EndedRun | null }

/** The runs in a pod's status, oldest first: at most the current one and the one before. */
export function runsOf(pod: Pod): Run[] {
  const status = agentStatus(pod)
  if (!status) return []
  const before = endedRun(status.lastState, undefined)
  const current = endedRun(status.state, status.containerID)
  const running = status.state?.running
  return [
    ...(before ? [before] : []),
    ...(current && current.containerId !== before?.containerId ? [current] : []),
    ...(running && status.containerID
      ? [{ containerId: status.containerID, startedAt: time(running.startedAt), end: null }]
      : []),
  ]
}

function endedRun(state: RunState | undefined, containerId: string | undefined): Run | null {
  const terminated = state?.terminated
  const id = terminated?.containerID ?? containerId
  if (!terminated || !id) return null
  const startedAt = time(terminated.startedAt)
  const { exitCode } = terminated
  // The kubelet also uses the reason when only a child was killed.
  const oomKilled = terminated.reason === 'OOMKilled' && exitCode !== 0
  return { containerId: id, startedAt, end: { startedAt, exitCode, oomKilled } }
}

export function isRunning(pod: Pod): boolean {
  return agentStatus(pod)?.state?.running !== undefined
}

/** True while the cluster is to keep the pod running. */
export function isWanted(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && !isFinished(pod)
}

/** True if the kubelet ended the pod because it exceeded a limit of its own, as opposed to a shortage of its node. */
export function exceededItsDisk({ status }: Pod): boolean {
  return status?.reason === 'Evicted' && ownUse.test(status.message ?? '')
}

/** From `pkg/kubelet/eviction/helpers.go`: limits of the pod, a container and a volume in memory. */
const ownUse =
  /ephemeral local storage usage exceeds|exceeded its local ephemeral storage limit|Usage of EmptyDir volume/

/**
 * True if nothing of the pod can run or write any more, although the object may still exist. A deleted pod without a
 * result of its container counts as running, because its node may just be starting it.
 */
export function hasEnded(pod: Pod): boolean {
  return isFinished(pod) || (pod.metadata.deletionTimestamp !== undefined && provesEnd(pod))
}

/**
 * True if a pod that has ended or disappeared left no container behind. A final phase is no proof: the cluster sets it
 * for pods whose node was removed. Neither is a result from before the deletion: the node may restart the container.
 */
export function provesEnd(pod: Pod): boolean {
  if (!pod.spec.nodeName) return true
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata
  const status = agentStatus(pod)
  const isDeleted = deletionTimestamp !== undefined
  // The node found the container gone, and reports that as the last state.
  if (isDeleted && !isRunning(pod) && status?.lastState?.terminated?.reason === 'ContainerStatusUnknown')
    return true
  const end = status?.state?.terminated
  if (!end) return false
  if (deletionTimestamp === undefined)
    return isFinished(pod) && condition(pod, 'DisruptionTarget')?.reason !== 'DeletionByPodGC'
  const requestedAt = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000
  return Date.parse(end.finishedAt ?? '') >= requestedAt
}

/** How long the last run of a pod took; 0 without a result. */
export function ranSeconds(pod: Pod): number {
  const { startedAt = '', finishedAt = '' } = agentStatus(pod)?.state?.terminated ?? {}
  return (Date.parse(finishedAt) - Date.parse(startedAt)) / 1000 || 0
}

/** A number in the environment of the agent's container; 0 if it is missing. */
export function agentNumber({ spec }: Pod, variable: 'ROOST_START_NUMBER' | 'ROOST_START_WAIT_SECONDS') {
  const agent = spec.containers?.find(({ name }) => name === agentContainer)
  return Number(agent?.env?.find(({ name }) => name === variable)?.value ?? 0)
}

function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded'
}

/**
 * Why and since when the pod's node does not respond; null while it does. The control plane then sets `Ready` to false
 * or unknown and leaves the last report of the node in place: containers that are ready, in a pod that is not.
 */
export function lost(pod: Pod): ContainerWaiting | null {
  const ready = condition(pod, 'Ready')
  const isSilent =
    pod.status?.reason === 'NodeLost' ||
    ready?.status === 'Unknown' ||
    (ready?.status === 'False' && condition(pod, 'ContainersReady')?.status === 'True')
  if (!isSilent || hasEnded(pod)) return null
  const reason = `The node ${pod.spec.nodeName ?? 'of the container'} does not respond. The container may still run there.`
  const canMove = pod.metadata.annotations?.[movableNote] !== undefined
  return { reason, since: time(ready?.lastTransitionTime) ?? createdAt(pod), canMove }
}

/**
 * Returns the pods, with the reason `NodeLost` in those whose node failed before they ran: the control plane changes
 * nothing in them. Calls `silentNodes` only if a pod has not started for a minute.
 */
export async function withLost(
  pods: readonly Pod[],
  now: Date,
  silentNodes: () => Promise<ReadonlySet<string>>,
): Promise<Pod[]> {
  const isLate = (pod: Pod) =>
    pod.spec.nodeName !== undefined &&
    !isRunning(pod) &&
    !hasEnded(pod) &&
    now.getTime() - Date.parse(createdAt(pod)) > lateMs
  if (!pods.some(isLate)) return [...pods]
  const silent = await silentNodes()
  return pods.map((pod) =>
    isLate(pod) && silent.has(pod.spec.nodeName ?? '')
      ? { ...pod, status: { ...pod.status, reason: 'NodeLost' } }
      : pod,
  )
}

const lateMs = 60_000

/** Why a pod does not run yet. `isObstacle` is false while a node prepares it in the usual way. */
export type Pending = ContainerWaiting & { isObstacle: boolean }

/** Returns the words of the scheduler or the kubelet as a sentence. */
export function pending(pod: Pod): Pending {
  const obstacle = (reason: string, since = createdAt(pod)) => ({
    ...{ reason, since },
    ...{ canMove: false, isObstacle: true },
  })
  const scheduled = condition(pod, 'PodScheduled')
  if (scheduled?.status === 'False') {
    const why = scheduled.message ?? scheduled.reason ?? 'the scheduler gives no reason.'
    return obstacle(`No node can run the container: ${why}`, time(scheduled.lastTransitionTime) ?? undefined)
  }
  const image = imageProblem(pod)
  if (image)
    return obstacle(`The image cannot be used (${image.reason}): ${image.message ?? 'no reason given'}`)
  const prepare = pod.status?.initContainerStatuses?.[0]
  const failed = prepare?.state?.terminated ?? prepare?.lastState?.terminated
  if (failed && failed.exitCode !== 0)
    return obstacle(
      `The volumes cannot be prepared: ${failed.message?.trim() || `exit code ${failed.exitCode}`}`,
    )
  const waiting = agentStatus(pod)?.state?.waiting
  if (waiting?.message)
    return obstacle(`The container cannot start (${waiting.reason ?? 'waiting'}): ${waiting.message}`)
  const reason = pod.spec.nodeName
    ? `The node ${pod.spec.nodeName} prepares the container: its image, volumes and network.`
    : 'The container waits for a node.'
  return { reason, since: createdAt(pod), canMove: false, isObstacle: false }
}

const imageFaults = /^(ErrImage|ImagePull|ImageInspect|InvalidImage|RegistryUnavailable)/

/** The kubelet's complaint about the image; null while there is none. */
function imageProblem(pod: Pod): RunState['waiting'] | null {
  const all = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
  const waiting = all.map(({ state }) => state?.waiting)
  return waiting.find((each) => each?.reason && imageFaults.test(each.reason)) ?? null
}

/** `pods` are those of this container in any state, without the superseded ones. */
export function containerState(
  record: ContainerRecord,
  pods: readonly Pod[],
  install: string,
): ContainerState {
  const pod = currentPod(pods)
  const { status, waiting } = statusOf(record, pod)
  const run = pod ? runsOf(pod).at(-1) : undefined
  const last = run?.end ?? (run ? null : record.lastRun)
  const isStopped = status === 'stopped'
  return {
    id: record.id,
    name: record.name,
    labels: { ...record.spec.labels, [installLabel]: install },
    status,
    waiting,
    exitCode: isStopped ? (last?.exitCode ?? null) : null,
    oomKilled: isStopped && (last?.oomKilled ?? false),
    startedAt: run?.startedAt ?? record.lastRun?.startedAt ?? null,
    volumes: record.spec.mounts.flatMap((mount) => (mount.type === 'volume' ? [mount.volume] : [])),
  }
}

/** The pod that decides the state: one that should run, else one that still does, else the newest. */
function currentPod(pods: readonly Pod[]): Pod | undefined {
  const newestFirst = pods.toSorted((a, b) =>
    (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? ''),
  )
  return newestFirst.find(isWanted) ?? newestFirst.find((pod) => !hasEnded(pod)) ?? newestFirst[0]
}

function statusOf(record: ContainerRecord, pod: Pod | undefined): Pick<ContainerState, 'status' | 'waiting'> {
  const stopped = { status: 'stopped', waiting: null } as const
  if (!pod || hasEnded(pod)) return record.wasStarted ? stopped : { status: 'created', waiting: null }
  const isLost = lost(pod)
  if (isLost) return { status: 'lost', waiting: isLost }
  if (isRunning(pod)) return { status: 'running', waiting: null }
  // Between two runs the kubelet restarts it; a deleted pod that never ran will not run.
  if (runsOf(pod).length > 0 || !isWanted(pod)) return stopped
  const { isObstacle: _, ...waiting } = pending(pod)
  return { status: 'pending', waiting }
}

function agentStatus(pod: Pod): ContainerStatus | undefined {
  return pod.status?.containerStatuses?.find(({ name }) => name === agentContainer)
}

function condition(pod: Pod, type: string): Condition | undefined {
  return pod.status?.conditions?.find((each) => each.type === type)
}

function createdAt(pod: Pod): string {
  return time(pod.metadata.creationTimestamp) ?? new Date(0).toISOString()
}

function time(text: string | undefined): string | null {
  const date = new Date(text ?? '')
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
