import { randomUUID } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { type Api, type Credentials, openApi } from './api.ts'
import { findPrograms } from './build.ts'
import { createAuthority } from './certificates.ts'
import { kubeconfig } from './configuration.ts'
import { startControlPlane } from './control-plane.ts'
import { imageTimeoutMs, kubernetesNamespace, saveImage, withImageStore } from './images.ts'
import { startNames } from './names.ts'
import { createNetwork } from './network.ts'
import { createNode, type Node } from './node.ts'
import { cacheFolder } from './paths.ts'
import { lastLines, run } from './processes.ts'
import { claimSlot, type HeldSlot } from './record.ts'
import { missingRequirement, readMachineFacts } from './requirements.ts'
import { maxNodes } from './slot.ts'
import { startStorage, storageClasses } from './storage.ts'

export type { Api, Credentials, KubeObject } from './api.ts'
export { ApiError } from './api.ts'
export type { Node } from './node.ts'

export type ClusterOptions = {
  /** 1 to 9. Default 3. */
  nodes?: number
  /** Images of this machine's Docker engine that every node has from the start. */
  images?: readonly string[]
  /** Time after which a silent node counts as lost. Default 40, as in Kubernetes. */
  nodeMonitorGraceSeconds?: number
  onProgress?: (text: string) => void
}

/** A Kubernetes cluster on this machine, for the administrator. */
export type Cluster = {
  /** Prefix of its control groups and network links, such as `roost-c0`. */
  name: string
  /** The address of the API, such as `https://10.160.0.1:6443`. */
  server: string
  /** Path of a file for `KUBECONFIG`. */
  kubeconfig: string
  credentials: Credentials
  api: Api
  /** This machine's address as pods reach it. Listen on it, or on all addresses. */
  hostAddress: string
  storageClasses: typeof storageClasses
  nodes: readonly Node[]
  /** Returns a node by its number, from 1. */
  node(number: number): Node
  /** Runs `kubectl` of the cluster's version and returns its output. */
  kubectl(...args: string[]): Promise<string>
  /** Copies an image of this machine's Docker engine, or an archive with an absolute path, to all nodes. */
  loadImage(image: string): Promise<void>
  /** Kills the API server. Pods keep running. */
  stopApiServer(): Promise<void>
  /** Resolves when the API answers. */
  startApiServer(): Promise<void>
  /** Restarts the API server without its history: a watch from an earlier version gets the status 410. */
  expireWatches(): Promise<void>
  /** Returns the last lines of all logs, for a message about a failure. */
  logs(): Promise<string>
  /** Stops the cluster and removes all its traces from this machine. */
  close(): Promise<void>
}

const readyTimeoutMs = 180_000

/**
 * Starts a cluster. Resolves when its nodes are ready and its API admits pods. Throws an error that names the missing
 * requirement if the machine cannot run one. Its processes end with this one; the next start removes other leftovers.
 */
export async function startCluster({
  nodes: count = 3,
  images = [],
  nodeMonitorGraceSeconds = 40,
  onProgress = () => {},
}: ClusterOptions = {}): Promise<Cluster> {
  if (!Number.isInteger(count) || count < 1 || count > maxNodes)
    throw new Error(`nodes: ${count} is not between 1 and ${maxNodes}`)
  const cache = cacheFolder(process.env)
  await mkdir(cache, { recursive: true, mode: 0o700 })
  const programs = await findPrograms(process.env)
  const missing = missingRequirement(await readMachineFacts(cache, programs !== null))
  if (missing) throw new Error(missing)
  if (!programs) throw new Error('The control plane is not built. `./roost test --cluster` builds it.')

  const held = await claimSlot(join(cache, 'clusters'))
  const stop = new AbortController()
  let closing: Promise<void> | null = null
  // Only once: after the first time, the slot may belong to another process.
  const close = () => {
    stop.abort()
    closing ??= held.release()
    return closing
  }
  try {
    const options = { count, images, nodeMonitorGraceSeconds, onProgress, cache, programs, stop: stop.signal }
    return await start(held, options, close)
  } catch (error) {
    await close()
    throw error
  }
}

type StartOptions = Required<Pick<ClusterOptions, 'images' | 'nodeMonitorGraceSeconds' | 'onProgress'>> & {
  count: number
  cache: string
  programs: string
  stop: AbortSignal
}

async function start(held: HeldSlot, options: StartOptions, close: () => Promise<void>): Promise<Cluster> {
  const { count, programs, cache, images, onProgress, stop, nodeMonitorGraceSeconds } = options
  const { slot, folder } = held
  const env = { ...process.env, PATH: `${programs}:${process.env.PATH ?? ''}:/usr/sbin:/sbin` }
  const server = `https://${slot.hostAddress}:${slot.apiPort}`
  const authority = await createAuthority(folder)
  const { ca, cert, key } = await authority.issue('admin', '/O=system:masters/CN=admin')
  const credentials = { ca, cert, key }
  const config = join(folder, 'kubeconfig')
  await writeFile(config, kubeconfig(server, credentials), { mode: 0o600 })
  await createNetwork(slot)

  const api = openApi(server, credentials)
  stop.addEventListener('abort', () => api.close())
  const common = { held, authority, server, api, programs, env }
  const startNodes = async () => {
    const nodes = await withImageStore(
      { cache, programs, images, env, onProgress },
      ({ pauseImage, copyTo }) =>
        all(
          Array.from({ length: count }, (_, index) =>
            createNode({ ...common, plan: slot.node(index + 1), pauseImage, fillImages: copyTo }),
          ),
        ),
    )
    await all(nodes.map((node) => node.start()))
    return nodes
  }
  // Nodes start while the control plane does.
  const [plane, nodes] = await all([startControlPlane({ ...common, nodeMonitorGraceSeconds }), startNodes()])
  onProgress('the control plane is ready')

  const dnsLog = await startNames(api, held, { env, signal: stop })
  await startStorage(api, join(folder, 'volumes'), stop)
  const logs = async () => {
    const paths = [...plane.logs.values(), dnsLog, ...nodes.flatMap((node) => [...node.logs.values()])]
    const texts = await Promise.all(paths.map(async (path) => `— ${path}\n${await lastLines(path)}`))
    return texts.join('\n')
  }
  try {
    for (const node of nodes) await node.untilReady(true, readyTimeoutMs)
    // A namespace admits pods when it has this account.
    await api.until(
      '/api/v1/namespaces/default/serviceaccounts',
      (accounts) => accounts.length > 0 || undefined,
    )
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${await logs()}`)
  }
  onProgress('all nodes are ready')

  return {
    name: slot.name,
    server,
    kubeconfig: config,
    credentials,
    api,
    hostAddress: slot.hostAddress,
    storageClasses,
    nodes,
    node(number) {
      const node = nodes[number - 1]
      if (!node) throw new Error(`There is no node ${number}; the cluster has ${count}.`)
      return node
    },
    kubectl: (...args) => run(join(programs, 'kubectl'), [`--kubeconfig=${config}`, ...args], { env }),
    async loadImage(image) {
      const isArchive = isAbsolute(image)
      const archive = isArchive ? image : join(folder, `image-${randomUUID()}.tar`)
      try {
        if (!isArchive) await saveImage(image, archive)
        const args = ['-n', kubernetesNamespace, 'images', 'import', archive]
        // One after another, because unpacking keeps a processor busy.
        for (const node of nodes) await node.run('ctr', args, imageTimeoutMs)
      } finally {
        if (!isArchive) await rm(archive, { force: true })
      }
    },
    stopApiServer: plane.stopApiServer,
    startApiServer: plane.startApiServer,
    expireWatches: plane.expireWatches,
    logs,
    close,
  }
}

/** Waits for the end of all, even if one fails: nothing may start while the cluster is being removed. */
async function all<const T extends readonly Promise<unknown>[]>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work)
  return Promise.all(work)
}
