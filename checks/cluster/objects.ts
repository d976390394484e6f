/** Objects of the Kubernetes API for the tests, and what they need of the cluster. */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Api, KubeObject } from '@roost/test-support/cluster/index'

const run = promisify(execFile)

export type Pod = KubeObject & {
  status: {
    phase: string
    podIP?: string
    containerStatuses?: { ready: boolean; restartCount: number; containerID?: string }[]
  }
}

export const namespace = '/api/v1/namespaces/default'
export const podsPath = `${namespace}/pods`

/** Programs of busybox that scripts of pods call. */
const tools = ['cat', 'grep', 'hostname', 'httpd', 'mkdir', 'nslookup', 'sleep', 'sort', 'tail', 'true']

/**
 * Creates an image of busybox and this machine's bash, and returns its reference. Bash opens connections with the
 * resolver of the C library, as agents do; a static busybox cannot load that.
 */
export async function createToolImage(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-cluster-image-'))
  try {
    const root = join(folder, 'root')
    await mkdir(join(root, 'bin'), { recursive: true })
    await copyFile('/bin/busybox', join(root, 'bin/busybox'))
    for (const tool of tools) await symlink('busybox', join(root, 'bin', tool))
    const { stdout } = await run('ldd', ['/bin/bash'])
    const libraries = stdout.match(/\/\S+/g) ?? []
    for (const file of ['/bin/bash', ...libraries]) {
      await mkdir(join(root, dirname(file)), { recursive: true })
      await copyFile(file, join(root, file))
    }
    const archive = join(folder, 'root.tar')
    await run('tar', ['-C', root, '--owner=0', '--group=0', '-cf', archive, '.'])
    const reference = 'roost-cluster-check:tools'
    await run('docker', ['import', '--change', 'ENV PATH=/bin', archive, reference])
    return reference
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A shell function for scripts: `get HOST PORT PATH` prints the response of an HTTP request. */
export const get = `get() {
  exec 5<> "/dev/tcp/$1/$2" || return 1
  printf 'GET %s HTTP/1.0\\r\\n\\r\\n' "$3" >&5
  cat <&5
}`

export type PodOptions = {
  image: string
  script: string
  /** Binds the pod to this node, without the scheduler. */
  node?: string
  /** Restricts the scheduler to this node. */
  onlyOn?: string
  labels?: Record<string, string>
  /** Mounts a claim at `/data`. */
  claim?: string
  /** User and group of the process, and the group of its volumes. */
  user?: number
  restarts?: boolean
}

export function podSpec({ image, script, node, onlyOn, claim, user, restarts = false }: PodOptions): object {
  return {
    nodeName: node,
    nodeSelector: onlyOn ? { 'kubernetes.io/hostname': onlyOn } : undefined,
    restartPolicy: restarts ? 'Always' : 'Never',
    terminationGracePeriodSeconds: 1,
    securityContext: user ? { runAsUser: user, runAsGroup: user, fsGroup: user } : undefined,
    containers: [
      {
        name: 'main',
        image,
        imagePullPolicy: 'IfNotPresent',
        command: ['/bin/bash', '-c', script],
        volumeMounts: claim ? [{ name: 'data', mountPath: '/data' }] : [],
      },
    ],
    volumes: claim ? [{ name: 'data', persistentVolumeClaim: { claimName: claim } }] : [],
  }
}

export async function createPod(api: Api, name: string, options: PodOptions): Promise<void> {
  await api.request('POST', podsPath, { metadata: { name, labels: options.labels }, spec: podSpec(options) })
}

/** Resolves with the pod in the first state that the predicate accepts. */
export async function untilPod(api: Api, name: string, accepts: (pod: Pod) => boolean): Promise<Pod> {
  const path = `${podsPath}?fieldSelector=metadata.name%3D${name}`
  return api.until<Pod, Pod>(path, ([pod]) => (pod && accepts(pod) ? pod : undefined))
}

export const isRunning = ({ status }: Pod) =>
  status.phase === 'Running' && status.containerStatuses?.every(({ ready }) => ready) === true

/** Runs the script in a new pod until it ends, and returns its output. Throws with the output if it failed. */
export async function outputOf(api: Api, name: string, options: PodOptions): Promise<string> {
  await createPod(api, name, options)
  const { status } = await untilPod(api, name, (pod) => ['Succeeded', 'Failed'].includes(pod.status.phase))
  const output = await api.text(`${podsPath}/${name}/log`)
  if (status.phase !== 'Succeeded') throw new Error(`The pod ${name} failed:\n${output}`)
  return output
}

export async function createClaim(
  api: Api,
  name: string,
  { storageClass, mode }: { storageClass: string; mode: 'ReadWriteOnce' | 'ReadWriteMany' },
): Promise<void> {
  await api.request('POST', `${namespace}/persistentvolumeclaims`, {
    metadata: { name },
    spec: {
      storageClassName: storageClass,
      accessModes: [mode],
      resources: { requests: { storage: '1Gi' } },
    },
  })
}
