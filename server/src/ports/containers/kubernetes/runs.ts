import { createHash } from 'node:crypto'
import type { Clock } from '../../../kit/clock.ts'
import { ContainerError } from '../port.ts'
import type { Api } from './api.ts'
import { isStatus, nullIfMissing } from './faults.ts'
import type { Entry, Pod } from './objects.ts'
import { type PodSettings, podFor, settingsDigest } from './pod.ts'
import {
  type ContainerRecord,
  endedPatch,
  idLabel,
  installLabel,
  objectName,
  readRecord,
  settingsNote,
  startedNote,
  startedPatch,
  supersededPatch,
} from './record.ts'
import type { RunLogs } from './run-log.ts'
import {
  agentNumber,
  hasEnded,
  isRunning,
  isWanted,
  lost,
  type Pending,
  pending,
  provesEnd,
  ranSeconds,
  runsOf,
} from './state.ts'
import { type Seen, untilObjects } from './until.ts'
import type { Volumes } from './volumes.ts'

/**
 * Starts and ends the pods of containers, at most one at a time for each. A "run" here is one execution of a container,
 * not a run of an agent.
 */
export type Runs = {
  /** See `Containers.start`. */
  start(record: ContainerRecord, pods: readonly Pod[], options?: { takesOver?: boolean }): Promise<void>
  /**
   * Deletes the pods, waits for their end, stores the result and returns the record with it. Throws node_lost when a
   * node does not respond: its container may still run, and ends when the node returns.
   */
  end(
    record: ContainerRecord,
    pods: readonly Pod[],
    options: { graceSeconds: number; keepsLog: boolean },
  ): Promise<ContainerRecord>
}

export type RunsDeps = {
  api: Api
  install: string
  clock: Pick<Clock, 'wait'>
  settings: PodSettings
  logs: Pick<RunLogs, 'follow' | 'keep'>
  /** For how long a start waits until its container runs. */
  startSeconds: number
  volumes: Pick<Volumes, 'nextStart' | 'noteEnd'>
  platformAlias(): Promise<{ ip: string; host: string } | null>
}

/** After this time a start reports an obstacle, such as a full cluster, instead of waiting longer. */
const obstacleSeconds = 10
/** An older container reads the fence every second (decision 97). */
export const fenceSeconds = 6
/** A run this long has raised the fence, and waited for an older container to notice. */
const fencedRunSeconds = 5 * fenceSeconds
const maxSuperseded = 20
/**
 * Kubelets before 1.22 report the end of a pod without containers, such as one that waits for its image, at the next
 * periodic synchronization: up to 90 seconds after the grace period.
 */
const endSeconds = 100

export function createRuns(deps: RunsDeps): Runs {
  const { api, install, clock, logs } = deps
  const podsOf = ({ id }: ContainerRecord) => ({
    labelSelector: `${installLabel}=${install},${idLabel}=${id}`,
  })

  async function start(
    record: ContainerRecord,
    pods: readonly Pod[],
    { takesOver = false } = {},
  ): Promise<void> {
    const abandoned = takesOver ? pods.filter((pod) => lost(pod)?.canMove) : []
    const rest = pods.filter((pod) => !abandoned.includes(pod))
    refuseLost(rest.filter(isWanted))
    const outdated = rest.filter(isOutdated)
    for (const pod of outdated) await deletePod(pod, 1)
    const isNew = !rest.some((pod) => isWanted(pod) && !outdated.includes(pod))
    if (isNew) {
      const ended = await waitForEnd(record, rest)
      const hasRun = pods.some((pod) => runsOf(pod).length > 0)
      await createPod(await supersede(await keepResults(record, ended), abandoned), hasRun)
    }
    await waitForRun(record, { abandoned, isNew })
  }

  /** A pod that has never run, and that the operator's present settings may help. */
  function isOutdated(pod: Pod): boolean {
    const note = pod.metadata.annotations?.[settingsNote]
    return isWanted(pod) && runsOf(pod).length === 0 && note !== settingsDigest(deps.settings)
  }

  /** Records that pods on unreachable nodes are no longer the container. Their nodes end them when they return. */
  async function supersede(record: ContainerRecord, abandoned: readonly Pod[]): Promise<ContainerRecord> {
    if (abandoned.length === 0) return record
    const uids = [...record.superseded, ...abandoned.map(({ metadata }) => metadata.uid)]
    const current = await change(record, supersededPatch(record, [...new Set(uids)].slice(-maxSuperseded)))
    for (const pod of abandoned) await deletePod(pod, fenceSeconds)
    return current
  }

  /**
   * A second pod could write to the same workspace, so a new one never starts beside an old one. Returns the pods as
   * last seen.
   */
  async function waitForEnd(record: ContainerRecord, pods: readonly Pod[]): Promise<Pod[]> {
    const open = pods.filter((pod) => !hasEnded(pod))
    refuseLost(open)
    const last = createLastSeen(pods)
    if (open.length === 0) return last.pods()
    const isOver = await untilObjects<Pod, true>(api, 'pods', podsOf(record), wait(), (seen) => {
      const rest = last.note(seen).filter(({ object, isGone }) => !isGone && !hasEnded(object))
      refuseLost(rest.map(({ object }) => object))
      return rest.length === 0 ? true : null
    })
    if (!isOver)
      throw new ContainerError('start_pending', 'The previous run of the container has not ended yet.')
    return last.pods()
  }

  /** Stores the results of pods that ended without `stop`, and deletes their objects if the cluster would keep them. */
  async function keepResults(record: ContainerRecord, pods: readonly Pod[]): Promise<ContainerRecord> {
    for (const pod of pods) if (runsOf(pod).length > 0) await logs.keep(record, pod).catch(ignoreFault)
    const current = await storeResult(record, pods)
    for (const pod of pods) if (pod.metadata.deletionTimestamp === undefined) await deletePod(pod, 1)
    return current
  }

  /** Stores the last result of pods that have ended or disappeared. */
  async function storeResult(record: ContainerRecord, pods: readonly Pod[]): Promise<ContainerRecord> {
    const run = pods.toSorted(byStart).flatMap(runsOf).at(-1)
    const unknown = run && { startedAt: run.startedAt, exitCode: null, oomKilled: false }
    const ended = closes(record, pods) ? record.openRun : null
    if (!run && ended === null) return record
    const changed = await change(record, endedPatch(run?.end ?? unknown ?? null, ended))
    // Only pods that waited follow a container that may still run.
    if (ended !== null && pods.some(hasWaited)) await deps.volumes.noteEnd(record.spec.mounts, 'known')
    return changed
  }

  async function change(record: ContainerRecord, patch: unknown): Promise<ContainerRecord> {
    const changed = await api.patch<Entry>('secrets', record.secret.name, patch).catch(nullIfMissing)
    const now = changed && readRecord(changed)
    if (now?.id === record.id) return now
    throw new ContainerError('no_such_container', `container ${record.name} was removed`)
  }

  /**
   * The pod's name comes from the version of the record, so that concurrent starts collide and only one creates it.
   * Each stored result changes the record, so a new run does not wait for the deletion of the old object.
   */
  async function createPod(stored: ContainerRecord, hasRun: boolean): Promise<void> {
    let record = stored
    while (record.openRun === null) record = await change(record, startedPatch(record))
    const name = podName(record)
    const platformAlias = record.spec.isClosed ? await deps.platformAlias() : null
    const next = await deps.volumes.nextStart(record.spec.mounts)
    const isAlone = stored.openRun === null && !next.mayStillRun
    const pod = podFor({
      ...{ record, name, install, platformAlias, run: record.openRun },
      ...{ settings: deps.settings, start: next, fenceSeconds: isAlone ? 0 : fenceSeconds },
      hasRun: hasRun || record.lastRun !== null,
    })
    for (let attempt = 0; ; attempt += 1) {
      try {
        await api.create('pods', pod)
        return
      } catch (error) {
        if (!isStatus(error, 409) || attempt === 2) throw error
        const existing = await api.get<Pod>('pods', name).catch(nullIfMissing)
        if (!existing) continue
        if (existing.metadata.labels?.[idLabel] !== record.id)
          throw new ContainerError(
            'name_taken',
            `the pod ${name} in the namespace does not belong to this container`,
          )
        if (isWanted(existing)) return
        await untilGone(record, existing)
      }
    }
  }

  async function untilGone(record: ContainerRecord, pod: Pod): Promise<void> {
    const isGone = await untilObjects<Pod, true>(
      ...([api, 'pods', podsOf(record), { ...wait(), act: () => deletePod(pod, 1) }] as const),
      (seen) =>
        seen.some(({ object, isGone }) => object.metadata.uid === pod.metadata.uid && !isGone) ? null : true,
    )
    if (!isGone) throw new ContainerError('start_pending', 'The pod of the previous run still exists.')
  }

  /** A pod that is not new may be between two runs, which the kubelet separates by up to five minutes. */
  async function waitForRun(
    record: ContainerRecord,
    { abandoned, isNew }: { abandoned: readonly Pod[]; isNew: boolean },
  ): Promise<void> {
    const ignored = new Set([...record.superseded, ...abandoned.map(({ metadata }) => metadata.uid)])
    let wait: Pending | null = null
    type Outcome = 'runs' | 'gone' | { surplus: Pod }
    const decide = (seen: Seen<Pod>[]): Outcome | null => {
      const pods = seen.filter(({ object, isGone }) => !isGone && !ignored.has(object.metadata.uid))
      const wanted = pods.map(({ object }) => object).filter(isWanted)
      const [pod, ...later] = wanted.toSorted(byStart)
      if (!pod) return 'gone'
      // The program with the highest number ends the others.
      if (later.length > 0) return { surplus: pod }
      refuseLost([pod])
      wait = pending(pod)
      return isRunning(pod) || (isNew && runsOf(pod).length > 0) ? 'runs' : null
    }
    const stages = [Math.min(obstacleSeconds, deps.startSeconds), deps.startSeconds - obstacleSeconds]
    for (const seconds of stages.filter((each) => each > 0)) {
      for (;;) {
        const outcome = await untilObjects(api, 'pods', podsOf(record), { seconds, clock }, decide)
        if (outcome === 'runs') return
        if (outcome === null) break
        if (outcome === 'gone')
          throw new ContainerError('engine_fault', `the pod of ${record.name} was deleted while it started`)
        // A process that was suspended in the middle of its start created a second pod.
        await deletePod(outcome.surplus, 1)
      }
      if (isObstacle(wait)) break
    }
    throw new ContainerError('start_pending', reasonOf(wait))
  }

  async function end(
    record: ContainerRecord,
    pods: readonly Pod[],
    { graceSeconds, keepsLog }: { graceSeconds: number; keepsLog: boolean },
  ): Promise<ContainerRecord> {
    for (const pod of pods)
      if (hasEnded(pod) && pod.metadata.deletionTimestamp === undefined) await deletePod(pod, 1)
    const open = pods.filter((pod) => !hasEnded(pod))
    const last = createLastSeen(pods)
    if (open.length === 0) {
      // Without an open run the result is stored.
      return record.openRun === null ? record : storeResult(record, pods)
    }
    const follows = keepsLog ? open.filter(isRunning).map((pod) => logs.follow(record, pod)) : []
    // Between two runs the log is complete, but the node forgets it with the pod.
    const between = keepsLog ? open.filter((pod) => !isRunning(pod) && runsOf(pod).length > 0) : []
    for (const pod of between) await logs.keep(record, pod).catch(ignoreFault)
    // Zero would remove the object immediately, while the container may still run.
    const grace = Math.max(1, graceSeconds)
    const isOver = await untilObjects<Pod, true>(
      api,
      'pods',
      podsOf(record),
      {
        ...{ clock, seconds: grace + endSeconds },
        act: async () => {
          for (const pod of open) await deletePod(pod, grace)
        },
      },
      (seen) => {
        const rest = last.note(seen).filter(({ object, isGone }) => !isGone && !hasEnded(object))
        const uids = new Set(rest.map(({ object }) => object.metadata.uid))
        // Pods that never ran show that their node is lost only in `open`, see `withLost`.
        refuseLost([
          ...rest.map(({ object }) => object),
          ...open.filter(({ metadata }) => uids.has(metadata.uid)),
        ])
        return rest.length === 0 ? true : null
      },
    ).finally(async () => {
      for (const follow of follows) await follow.finish().catch(ignoreFault)
    })
    if (!isOver)
      throw new ContainerError(
        'engine_fault',
        `${record.name}: the node ${open[0]?.spec.nodeName ?? ''} reported no end within ${grace + endSeconds} s`,
      )
    return storeResult(record, last.pods())
  }

  async function deletePod({ metadata: { name, uid } }: Pod, graceSeconds: number): Promise<void> {
    await api.delete('pods', name, { uid, graceSeconds }).catch((error: unknown) => {
      // Deleted already, or replaced by a later one.
      if (!isStatus(error, 404, 409)) throw error
    })
  }

  const wait = () => ({ seconds: deps.startSeconds, clock })

  return { start, end }
}

export function podName({ name, secret }: ContainerRecord): string {
  const version = createHash('sha256').update(`${secret.uid} ${secret.resourceVersion}`).digest('hex')
  return `${objectName(name)}-${version.slice(0, 8)}`
}

function refuseLost(pods: readonly Pod[]): void {
  for (const pod of pods) {
    const reason = lost(pod)?.reason
    if (reason) throw new ContainerError('node_lost', reason)
  }
}

// The compiler does not see that a callback assigns the value.
const isObstacle = (wait: Pending | null) => wait?.isObstacle ?? false
const reasonOf = (wait: Pending | null) =>
  wait?.reason ?? 'The cluster has not reported on the container yet.'

/** Logs are kept if possible; a start or stop never fails for them. */
function ignoreFault(error: unknown): void {
  if (!(error instanceof ContainerError)) throw error
}

/**
 * Whether the end of the pods is the end of every container of the record. A pod that had to wait for an older
 * container has ended that one too, if it ran long enough.
 */
function closes({ openRun }: ContainerRecord, pods: readonly Pod[]): boolean {
  const own = pods.filter(({ metadata }) => metadata.annotations?.[startedNote] === openRun).toSorted(byStart)
  const last = own.at(-1)
  if (!last) return false
  return hasWaited(last) ? provesEnd(last) && ranSeconds(last) >= fencedRunSeconds : own.every(provesEnd)
}

const hasWaited = (pod: Pod) => agentNumber(pod, 'ROOST_START_WAIT_SECONDS') > 0

/** The last content of each pod. One that the cluster reports without its runs, before it removes it, keeps them. */
function createLastSeen(pods: readonly Pod[]) {
  const last = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
  return {
    pods: () => [...last.values()],
    /** Returns the changes of these pods. */
    note(seen: readonly Seen<Pod>[]): Seen<Pod>[] {
      const own = seen.filter(({ object }) => last.has(object.metadata.uid))
      for (const { object } of own) {
        const before = last.get(object.metadata.uid)
        const hasLostRuns = before && runsOf(before).length > 0 && runsOf(object).length === 0
        if (!hasLostRuns) last.set(object.metadata.uid, object)
      }
      return own
    },
  }
}

/** Lowest start number first, the younger of equal ones first. */
function byStart(a: Pod, b: Pod): number {
  const [first, second] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  return (
    agentNumber(a, 'ROOST_START_NUMBER') - agentNumber(b, 'ROOST_START_NUMBER') ||
    second.localeCompare(first) ||
    b.metadata.name.localeCompare(a.metadata.name)
  )
}
