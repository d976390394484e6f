import { chmod, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Api, ApiError, type KubeObject } from './api.ts'

/** Names of the storage classes of a cluster. */
export const storageClasses = {
  /** A folder of one node, chosen with the first pod; the pod stays on that node. Supports `fsGroup`, like a disk. */
  local: 'roost-local',
  /** A folder that all nodes see (ReadWriteMany), open to every user, like a network file system. */
  shared: 'roost-shared',
} as const

const provisioner = 'roost.local/folders'
const provisionedBy = 'pv.kubernetes.io/provisioned-by'
const selectedNode = 'volume.kubernetes.io/selected-node'

type Claim = KubeObject & {
  spec: {
    storageClassName?: string
    accessModes: string[]
    resources: { requests: { storage: string } }
    volumeName?: string
  }
}
type Volume = KubeObject & {
  spec: { local?: { path: string }; hostPath?: { path: string } }
  status?: { phase?: string }
}

/** A volume to create for a claim: its object, and its folder with the mode that the folder gets. */
export type PlannedVolume = {
  folder: string
  mode: number
  object: { metadata: { name: string }; spec: object }
}

/** Returns the volume for a claim; null for a claim that has one, or that another provisioner or a pod must serve. */
export function planVolume({ metadata, spec }: Claim, parent: string): PlannedVolume | null {
  if (spec.volumeName || metadata.deletionTimestamp) return null
  const name = `pvc-${metadata.uid}`
  const node = metadata.annotations?.[selectedNode]
  const common = {
    capacity: { storage: spec.resources.requests.storage },
    accessModes: spec.accessModes,
    persistentVolumeReclaimPolicy: 'Delete',
    storageClassName: spec.storageClassName,
    claimRef: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      namespace: metadata.namespace,
      name: metadata.name,
      uid: metadata.uid,
    },
  }
  const volume = (folder: string, mode: number, source: object): PlannedVolume => ({
    folder,
    mode,
    object: {
      metadata: { name, annotations: { [provisionedBy]: provisioner } } as { name: string },
      spec: { ...common, ...source },
    },
  })
  if (spec.storageClassName === storageClasses.shared) {
    const folder = join(parent, 'shared', name)
    return volume(folder, 0o777, { hostPath: { path: folder, type: 'Directory' } })
  }
  const isLocal = spec.storageClassName === storageClasses.local
  if (!isLocal || !node || !spec.accessModes.every((mode) => mode === 'ReadWriteOnce')) return null
  const folder = join(parent, node, name)
  const onNode = [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }]
  return volume(folder, 0o755, {
    local: { path: folder },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: onNode }] } },
  })
}

/** Serves claims of both classes from folders below `parent`, until `signal` aborts. */
export async function startStorage(api: Api, parent: string, signal: AbortSignal): Promise<void> {
  const classes = '/apis/storage.k8s.io/v1/storageclasses'
  const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' }
  await api.request('POST', classes, {
    metadata: { name: storageClasses.local, annotations: isDefault },
    provisioner,
    volumeBindingMode: 'WaitForFirstConsumer',
    reclaimPolicy: 'Delete',
  })
  await api.request('POST', classes, {
    metadata: { name: storageClasses.shared },
    provisioner,
    volumeBindingMode: 'Immediate',
    reclaimPolicy: 'Delete',
  })
  const once = singleFlight()
  void api.follow<Claim>(
    '/api/v1/persistentvolumeclaims',
    (claims) => {
      for (const claim of claims) {
        const planned = planVolume(claim, parent)
        if (planned) once(planned.folder, () => createVolume(api, planned))
      }
    },
    signal,
  )
  void api.follow<Volume>(
    '/api/v1/persistentvolumes',
    (volumes) => {
      for (const volume of volumes)
        if (isReleased(volume)) once(volume.metadata.name, () => deleteVolume(api, volume))
    },
    signal,
  )
}

async function createVolume(api: Api, { folder, mode, object }: PlannedVolume): Promise<void> {
  await mkdir(folder, { recursive: true })
  // Independent of the umask.
  await chmod(folder, mode)
  await api.request('POST', '/api/v1/persistentvolumes', object)
}

function isReleased({ metadata, status }: Volume): boolean {
  return (
    status?.phase === 'Released' &&
    metadata.deletionTimestamp === undefined &&
    metadata.annotations?.[provisionedBy] === provisioner
  )
}

async function deleteVolume(api: Api, { metadata, spec }: Volume): Promise<void> {
  const folder = spec.local?.path ?? spec.hostPath?.path
  if (folder) await rm(folder, { recursive: true, force: true })
  await api.request('DELETE', `/api/v1/persistentvolumes/${metadata.name}`)
}

/** Starts the work of a key unless it is running. Retries a failure with the next change. */
function singleFlight(): (key: string, work: () => Promise<void>) => void {
  const running = new Set<string>()
  return (key, work) => {
    if (running.has(key)) return
    running.add(key)
    work()
      .catch((error: unknown) => {
        // The volume exists, or was deleted already: an earlier attempt lost only its response.
        if (error instanceof ApiError && (error.status === 409 || error.status === 404)) return
        console.error(
          `Storage of the test cluster: ${error instanceof Error ? error.message : String(error)}`,
        )
      })
      .finally(() => running.delete(key))
  }
}
