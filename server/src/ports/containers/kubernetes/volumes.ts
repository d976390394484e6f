import type { Clock } from '../../../kit/clock.ts'
import { ContainerError, type ContainerSpec } from '../port.ts'
import type { Api } from './api.ts'
import { isStatus, nullIfMissing } from './faults.ts'
import type { Claim, Entry } from './objects.ts'
import { installLabel, kindLabel, objectName, ownLabels } from './record.ts'
import { untilObjects } from './until.ts'

export type VolumeSettings = {
  /** Null for the cluster's default class. */
  storageClass: string | null
  /** A class whose volumes several nodes can mount. Null: agents cannot share folders. */
  sharedStorageClass: string | null
  /** `ReadWriteMany`: other nodes can mount the volumes too, so that agents of a lost node start elsewhere. */
  accessMode: 'ReadWriteOnce' | 'ReadWriteMany'
  /** Requested for each volume, as a quantity such as `10Gi`. */
  volumeSize: string
}

/** Volumes as PersistentVolumeClaims. */
export type Volumes = {
  create(name: string, labels: Record<string, string>): Promise<void>
  /** `users`: names of the volumes that containers mount. */
  remove(name: string, users: () => Promise<ReadonlySet<string>>): Promise<void>
  list(): Promise<string[]>
  /** Throws `ContainerError` for a volume that is missing, foreign, or shared without ReadWriteMany. */
  requireMountable(mounts: ContainerSpec['mounts']): Promise<void>
  /** Prepares a new run. */
  nextStart(mounts: ContainerSpec['mounts']): Promise<NextStart>
  /**
   * Notes whether a container whose record is removed may still run on a node that does not respond. The record of the
   * next container does not know that.
   */
  noteEnd(mounts: ContainerSpec['mounts'], end: 'unknown' | 'known'): Promise<void>
}

export type NextStart = {
  /** Higher than that of every earlier run with the same volumes. */
  number: number
  /** Every node can mount the volumes, even while a lost one still has them. */
  canMove: boolean
  /** See `noteEnd`. */
  mayStillRun: boolean
}

const labelsNote = 'roost.labels'
/** The number of the last run that mounted the volume. */
const startNote = 'roost.start-number'
/** Present while the container of a removed record may still write to the volume. */
const openNote = 'roost.may-still-run'
/** The volume's name, which differs from the claim's if Kubernetes does not accept it. */
const volumeNote = 'roost.volume'
/** The label that a volume to be shared with other agents has; see `agents/lifecycle/spec.ts`. */
const sharedLabel = { name: 'roost.platform', value: 'agent-shared' }
/** A claim in deletion disappears after its last pod. */
const deletionSeconds = 60

export function createVolumes(deps: {
  api: Api
  install: string
  clock: Clock
  settings: VolumeSettings
}): Volumes {
  const { api, install, clock, settings } = deps
  const kind = 'persistentvolumeclaims'
  const own = { labelSelector: `${installLabel}=${install}` }
  const isOwn = ({ metadata }: Entry) => metadata.labels?.[installLabel] === install

  function claimFor(name: string, labels: Record<string, string>) {
    const isShared = labels[sharedLabel.name] === sharedLabel.value && settings.sharedStorageClass !== null
    const storageClassName = isShared ? settings.sharedStorageClass : settings.storageClass
    const accessMode = isShared ? 'ReadWriteMany' : settings.accessMode
    return {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: objectName(name),
        labels: { ...ownLabels(install), [kindLabel]: 'volume' },
        annotations: { [labelsNote]: JSON.stringify(labels), [volumeNote]: name },
      },
      spec: {
        accessModes: [accessMode],
        ...(storageClassName !== null && { storageClassName }),
        resources: { requests: { storage: settings.volumeSize } },
      },
    }
  }

  async function untilGone(name: string): Promise<void> {
    const selection = { fieldSelector: `metadata.name=${objectName(name)}` }
    const isGone = await untilObjects<Entry, true>(
      ...([api, kind, selection, { seconds: deletionSeconds, clock }] as const),
      (seen) =>
        seen.every(({ object, isGone }) => isGone || !object.metadata.deletionTimestamp) ? true : null,
    )
    if (!isGone)
      throw new ContainerError(
        'engine_fault',
        `volume ${name} is still being deleted; a pod or the storage holds it`,
      )
  }

  const claimOf = (volume: string) => api.get<Claim>(kind, objectName(volume)).catch(nullIfMissing)

  /** In the order of the mounted volumes. */
  const claimsOf = (mounts: ContainerSpec['mounts']) =>
    Promise.all(mounts.flatMap((mount) => (mount.type === 'volume' ? [claimOf(mount.volume)] : [])))

  /** The claim of the volume that has the numbers of starts; null without one. */
  async function numberedClaim(mounts: ContainerSpec['mounts']): Promise<Claim | null> {
    const numbered = mounts.find((mount) => mount.type === 'volume' && !mount.readOnly)
    const claim = numbered?.type === 'volume' ? await claimOf(numbered.volume) : null
    return claim && isOwn(claim) ? claim : null
  }

  /** False if the claim has changed since it was read. */
  async function isPatched(name: string, patch: unknown): Promise<boolean> {
    return api.patch(kind, name, patch).then(
      () => true,
      (error: unknown) => {
        if (isStatus(error, 409)) return false
        throw error
      },
    )
  }

  return {
    async create(name, labels) {
      for (;;) {
        try {
          await api.create(kind, claimFor(name, labels))
          return
        } catch (error) {
          if (!isStatus(error, 409)) throw error
        }
        const existing = await api.get<Entry>(kind, objectName(name)).catch(nullIfMissing)
        if (!existing) continue
        if (!isOwn(existing)) throw foreign(name)
        if (!existing.metadata.deletionTimestamp) return
        await untilGone(name)
      }
    },

    async remove(name, users) {
      const existing = await api.get<Entry>(kind, objectName(name)).catch(nullIfMissing)
      if (!existing || !isOwn(existing)) return
      if ((await users()).has(name))
        throw new ContainerError('volume_in_use', `a container mounts volume ${name}`)
      await api.delete(kind, objectName(name), { uid: existing.metadata.uid }).catch((error: unknown) => {
        if (!isStatus(error, 404, 409)) throw error
      })
    },

    async list() {
      const { items } = await api.list<Entry>(kind, own, { onlyMetadata: true })
      return items
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.annotations?.[volumeNote] ?? metadata.name)
    },

    async nextStart(mounts) {
      for (;;) {
        const [claims, claim] = await Promise.all([claimsOf(mounts), numberedClaim(mounts)])
        const canMove = claims.every((each) => each !== null && isForMany(each))
        // Higher than the number in a workspace that was restored from a backup.
        const seconds = Math.floor(clock.now().getTime() / 1000)
        if (!claim) return { number: seconds, canMove, mayStillRun: false }
        const { name, resourceVersion, annotations } = claim.metadata
        const number = Math.max(Number(annotations?.[startNote] ?? 0) + 1, seconds)
        const mayStillRun = annotations?.[openNote] !== undefined
        const patch = { metadata: { resourceVersion, annotations: { [startNote]: String(number) } } }
        if (await isPatched(name, patch)) return { number, canMove, mayStillRun }
      }
    },

    async noteEnd(mounts, end) {
      for (;;) {
        const claim = await numberedClaim(mounts)
        if (!claim) return
        const { name, resourceVersion, annotations } = claim.metadata
        const note = end === 'unknown' ? 'yes' : null
        if ((annotations?.[openNote] ?? null) === note) return
        if (await isPatched(name, { metadata: { resourceVersion, annotations: { [openNote]: note } } }))
          return
      }
    },

    async requireMountable(mounts) {
      const volumes = mounts.filter((mount) => mount.type === 'volume')
      const claims = await claimsOf(mounts)
      for (const [index, { volume, readOnly }] of volumes.entries()) {
        const claim = claims[index]
        if (!claim) throw new ContainerError('engine_fault', `there is no volume ${volume}`)
        if (!isOwn(claim)) throw foreign(volume)
        if (readOnly && !isForMany(claim))
          throw new ContainerError(
            'engine_fault',
            `volume ${volume} cannot be shared with other agents, because its storage is mounted on one node only. ` +
              'Set ROOST_KUBERNETES_SHARED_STORAGE_CLASS before the agent that owns it is created.',
          )
      }
    },
  }
}

const isForMany = ({ spec }: Claim) => spec.accessModes?.includes('ReadWriteMany') ?? false

function foreign(name: string): ContainerError {
  return new ContainerError(
    'name_taken',
    `volume ${name} in the namespace does not belong to this installation`,
  )
}
