import type { Clock } from '../../../kit/clock.ts'
import { ContainerError, type ContainerSpec } from '../port.ts'
import type { Api } from './api.ts'
import { isStatus, nullIfMissing } from './faults.ts'
import type { Claim, Entry } from './objects.ts'
import { installLabel, kindLabel, ownLabels } from './record.ts'
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
  /**
   * Prepares a new run. `number` is higher than that of every earlier run with the same volumes. `canMove`: every
   * node can mount them, even while a lost one still has them.
   */
  nextStart(mounts: ContainerSpec['mounts']): Promise<{ number: number; canMove: boolean }>
}

const labelsNote = 'roost.labels'
/** The number of the last run that mounted the volume. */
const startNote = 'roost.start-number'
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
        name,
        labels: { ...ownLabels(install), [kindLabel]: 'volume' },
        annotations: { [labelsNote]: JSON.stringify(labels) },
      },
      spec: {
        accessModes: [accessMode],
        ...(storageClassName !== null && { storageClassName }),
        resources: { requests: { storage: settings.volumeSize } },
      },
    }
  }

  async function untilGone(name: string): Promise<void> {
    const selection = { fieldSelector: `metadata.name=${name}` }
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

  return {
    async create(name, labels) {
      for (;;) {
        try {
          await api.create(kind, claimFor(name, labels))
          return
        } catch (error) {
          if (!isStatus(error, 409)) throw error
        }
        const existing = await api.get<Entry>(kind, name).catch(nullIfMissing)
        if (!existing) continue
        if (!isOwn(existing)) throw foreign(name)
        if (!existing.metadata.deletionTimestamp) return
        await untilGone(name)
      }
    },

    async remove(name, users) {
      const existing = await api.get<Entry>(kind, name).catch(nullIfMissing)
      if (!existing || !isOwn(existing)) return
      if ((await users()).has(name))
        throw new ContainerError('volume_in_use', `a container mounts volume ${name}`)
      await api.delete(kind, name, { uid: existing.metadata.uid }).catch((error: unknown) => {
        if (!isStatus(error, 404, 409)) throw error
      })
    },

    async list() {
      const { items } = await api.list<Entry>(kind, own, { onlyMetadata: true })
      return items
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.name)
    },

    async nextStart(mounts) {
      const volumes = mounts.filter((mount) => mount.type === 'volume')
      const numbered = volumes.find(({ readOnly }) => !readOnly)?.volume
      for (;;) {
        const { items } = await api.list<Claim>(kind, own)
        const claims = items.filter(({ metadata }) => volumes.some(({ volume }) => volume === metadata.name))
        const canMove = claims.length === volumes.length && claims.every(isForMany)
        // Higher than the number in a workspace that was restored from a backup.
        const seconds = Math.floor(clock.now().getTime() / 1000)
        const claim = claims.find(({ metadata }) => metadata.name === numbered)
        if (!claim) return { number: seconds, canMove }
        const number = Math.max(Number(claim.metadata.annotations?.[startNote] ?? 0) + 1, seconds)
        const { name, resourceVersion } = claim.metadata
        const patch = { metadata: { resourceVersion, annotations: { [startNote]: String(number) } } }
        const isTaken = await api.patch(kind, name, patch).then(
          () => true,
          (error: unknown) => {
            if (isStatus(error, 409)) return false
            throw error
          },
        )
        if (isTaken) return { number, canMove }
      }
    },

    async requireMountable(mounts) {
      const volumes = mounts.filter((mount) => mount.type === 'volume')
      if (volumes.length === 0) return
      const { items } = await api.list<Claim>(kind, own)
      const claims = new Map(items.map((claim) => [claim.metadata.name, claim]))
      for (const { volume, readOnly } of volumes) {
        const claim = claims.get(volume)
        if (!claim) {
          const other = await api.get<Entry>(kind, volume).catch(nullIfMissing)
          throw other ? foreign(volume) : new ContainerError('engine_fault', `there is no volume ${volume}`)
        }
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
