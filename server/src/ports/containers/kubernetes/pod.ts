import { createHash } from 'node:crypto'
import type { Mount } from '../port.ts'
import { quantity } from './objects.ts'
import {
  type ContainerRecord,
  dataKey,
  idLabel,
  movableNote,
  nameNote,
  networkLabel,
  objectName,
  ownLabels,
  settingsNote,
  startedNote,
} from './record.ts'

export type Toleration = {
  key?: string
  operator: 'Exists' | 'Equal'
  value?: string
  effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

/** The operator's settings for every pod. */
export type PodSettings = {
  nodeSelector: Readonly<Record<string, string>>
  tolerations: readonly Toleration[]
  /** Null for the cluster's default. */
  priorityClass: string | null
  imagePullSecrets: readonly string[]
  /** What the cluster reserves, as quantities such as `100m` and `256Mi`; at most the container's limits. */
  cpuRequest: string
  memoryRequest: string
  /** Disk of the node outside of volumes, as a quantity; null for no limit. */
  diskLimit: string | null
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
}

export type PodInput = {
  record: ContainerRecord
  name: string
  install: string
  settings: PodSettings
  /** Host entry for containers without a name server; null if the platform's host is an address. */
  platformAlias: { ip: string; host: string } | null
  /** See `ContainerRecord.openRun`. */
  run: string
  /** See `Volumes.nextStart`. */
  start: { number: number; canMove: boolean }
  /** A run of the container has begun, so its volumes have the files of the image. */
  hasRun: boolean
  /** How long the agent program waits for the end of a container that it replaces. */
  fenceSeconds: number
}

export const agentContainer = 'agent'
export const baseCapabilities = [
  'NET_BIND_SERVICE',
  'SETGID',
  'SETUID',
  'CHOWN',
  'SYS_CHROOT',
  'AUDIT_WRITE',
] as const
export const fullCapabilities = ['DAC_OVERRIDE', 'FOWNER', 'KILL'] as const
/** For copying files of every owner from the image; only the init container has them. */
const prepareCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'] as const
const maxFolderBytes = 64 * 1024

/**
 * Fills empty volumes from the image, as Docker does, and creates the mount points inside read-only folders. A folder
 * `.roost-fill` of root marks an interrupted copy, which starts again. Links and other users' folders of that name are
 * ignored: a turn may have created them, and this script runs as root with all volumes of the agent.
 * Arguments: any number of `fill VOLUME FOLDER`, `inside FOLDER` and `close FOLDER`.
 */
const prepareScript = `set -e
while [ $# -gt 0 ]; do
  case $1 in
    fill)
      mark=$2/.roost-fill
      copy=$mark/copy
      isOpen=
      if [ ! -L "$mark" ] && [ -d "$mark" ] && [ -O "$mark" ]; then isOpen=yes; fi
      if [ -d "$3" ] && { [ "$isOpen" ] || [ -z "$(ls -A "$2" | grep -vx lost+found)" ]; }; then
        rm -rf "$mark"
        mkdir "$mark" "$copy"
        cp -a "$3/." "$copy/" || { rm -rf "$mark"; exit 1; }
        for file in "$copy"/* "$copy"/.[!.]* "$copy"/..?*; do
          if [ -e "$file" ] || [ -L "$file" ]; then
            rm -rf "$2/\${file##*/}"
            mv "$file" "$2/"
          fi
        done
        # The folder's owner and mode.
        cp -a "$copy/." "$2/"
        sync -f "$2" || true
        rmdir "$copy" "$mark"
      fi
      shift 3 ;;
    inside) mkdir -p "$2"; shift 2 ;;
    close) chmod 0555 "$2"; shift 2 ;;
  esac
done`

/** Returns the Pod of one run of a container. It belongs to the record's Secret and is deleted with it. */
export function podFor(input: PodInput) {
  const { record, name, install, settings, platformAlias, start } = input
  const { spec } = record
  const isClosed = spec.isClosed ?? false
  const volumes = spec.mounts.map((mount, at) => ({ ...mount, name: `mount-${at}` }))
  const limits = {
    ...{ cpu: milli(spec.cpus), memory: String(spec.memoryBytes) },
    ...(settings.diskLimit !== null && { 'ephemeral-storage': settings.diskLimit }),
  }
  const resources = {
    requests: {
      cpu: atMost(settings.cpuRequest, spec.cpus, limits.cpu),
      memory: atMost(settings.memoryRequest, spec.memoryBytes, limits.memory),
      // Without a request, Kubernetes would reserve the whole limit.
      ...(settings.diskLimit !== null && { 'ephemeral-storage': '0' }),
    },
    limits,
  }
  const prepare = prepareArguments(volumes, input.hasRun)
  const image = { image: spec.image, imagePullPolicy: 'IfNotPresent' }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: {
        ...settings.labels,
        ...ownLabels(install),
        [idLabel]: record.id,
        [networkLabel]: isClosed ? 'closed' : 'open',
      },
      annotations: {
        ...settings.annotations,
        [nameNote]: record.name,
        [startedNote]: input.run,
        [settingsNote]: settingsDigest(settings),
        ...(start.canMove && { [movableNote]: 'yes' }),
      },
      ownerReferences: [
        {
          ...{ apiVersion: 'v1', kind: 'Secret', name: record.secret.name, uid: record.secret.uid },
          // A drain evicts only pods with a controller, unless it is forced.
          controller: true,
        },
      ],
    },
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 10,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(spec.runtime && { runtimeClassName: spec.runtime }),
      ...(settings.priorityClass && { priorityClassName: settings.priorityClass }),
      nodeSelector: { ...settings.nodeSelector },
      tolerations: [...settings.tolerations, ...lostNodeTolerations],
      imagePullSecrets: settings.imagePullSecrets.map((secret) => ({ name: secret })),
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      // Names in queries could carry data to a name server outside.
      ...(isClosed && { dnsPolicy: 'None', dnsConfig: { nameservers: ['127.0.0.1'] } }),
      ...(isClosed &&
        platformAlias && { hostAliases: [{ ip: platformAlias.ip, hostnames: [platformAlias.host] }] }),
      ...(prepare.args.length > 0 && {
        initContainers: [
          {
            name: 'prepare',
            ...image,
            command: ['/bin/sh', '-c', prepareScript, 'prepare', ...prepare.args],
            resources,
            securityContext: {
              ...{ runAsUser: 0, allowPrivilegeEscalation: false, privileged: false },
              capabilities: { drop: ['ALL'], add: [...prepareCapabilities] },
            },
            terminationMessagePolicy: 'FallbackToLogsOnError',
            volumeMounts: prepare.mounts,
          },
        ],
      }),
      containers: [
        {
          name: agentContainer,
          ...image,
          env: [
            ...(spec.variables ?? []).map((name) => ({
              name,
              valueFrom: { secretKeyRef: { name: record.secret.name, key: dataKey(record.id, name) } },
            })),
            { name: 'ROOST_START_NUMBER', value: String(start.number) },
            { name: 'ROOST_START_WAIT_SECONDS', value: String(input.fenceSeconds) },
          ],
          ...(spec.variables ? {} : { envFrom: [{ secretRef: { name: record.secret.name } }] }),
          resources,
          securityContext: {
            privileged: false,
            // sudo needs new privileges.
            allowPrivilegeEscalation: spec.fullCapabilities,
            capabilities: {
              drop: ['ALL'],
              add: spec.fullCapabilities ? [...baseCapabilities, ...fullCapabilities] : [...baseCapabilities],
            },
          },
          volumeMounts: [
            { name: 'tmp', mountPath: '/tmp' },
            ...volumes.map((mount) => ({
              ...{ name: mount.name, mountPath: mount.target },
              readOnly: mount.type === 'volume' ? (mount.readOnly ?? false) : true,
            })),
          ],
        },
      ],
      volumes: [
        { name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: String(spec.tmpBytes) } },
        ...volumes.map((mount) =>
          mount.type === 'volume'
            ? { name: mount.name, persistentVolumeClaim: { claimName: objectName(mount.volume) } }
            : { name: mount.name, emptyDir: { medium: 'Memory', sizeLimit: String(maxFolderBytes) } },
        ),
      ],
    },
  }
}

/**
 * An agent on a node that does not respond stays bound to it: the cluster must not delete its pod, because the
 * platform decides when another node may write to the same workspace.
 */
const lostNodeTolerations: Toleration[] = ['not-ready', 'unreachable'].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
}))

type Placed = Mount & { name: string }

function prepareArguments(mounts: readonly Placed[], hasRun: boolean) {
  const args: string[] = []
  const used: { name: string; mountPath: string }[] = []
  const use = (name: string) => {
    const mountPath = `/roost/${name}`
    used.push({ name, mountPath })
    return mountPath
  }
  for (const mount of mounts) {
    if (mount.type === 'empty') {
      const folder = use(mount.name)
      for (const { target } of mounts)
        if (target.startsWith(`${mount.target}/`))
          args.push('inside', `${folder}/${target.slice(mount.target.length + 1)}`)
      args.push('close', folder)
      // Volumes of other agents are read-only and never filled; later runs find filled ones.
    } else if (mount.type === 'volume' && !mount.readOnly && !hasRun)
      args.push('fill', use(mount.name), mount.target)
  }
  return { args, mounts: used }
}

/** Changes when the operator changes settings. */
export function settingsDigest(settings: PodSettings): string {
  const { nodeSelector, tolerations, priorityClass, imagePullSecrets, cpuRequest, memoryRequest } = settings
  const text = JSON.stringify([
    ...[nodeSelector, tolerations, priorityClass, imagePullSecrets, cpuRequest, memoryRequest],
    ...[settings.diskLimit, settings.labels, settings.annotations],
  ])
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

const milli = (cpus: number) => `${Math.max(1, Math.round(cpus * 1000))}m`

function atMost(request: string, limit: number, limitText: string): string {
  return (quantity(request) ?? 0) > limit ? limitText : request
}
