import { once } from 'node:events'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Api, KubeObject } from './api.ts'
import type { Authority } from './certificates.ts'
import {
  containerdConfiguration,
  kubeconfig,
  kubeletConfiguration,
  kubeProxyConfiguration,
  podNetworkConfiguration,
} from './configuration.ts'
import { connectNode, setLink } from './network.ts'
import { type Daemon, lastLines, run, startDaemon } from './processes.ts'
import {
  endProcesses,
  type HeldSlot,
  type RecordedProcess,
  removeControlGroup,
  removeLink,
} from './record.ts'
import { cgroupFolders } from './requirements.ts'
import type { NodePlan } from './slot.ts'

export type NodeObject = KubeObject & {
  spec: { unschedulable?: boolean }
  status: { conditions?: { type: string; status: string }[] }
}

/** One node of a cluster. */
export type Node = {
  /** Its name in Kubernetes. */
  name: string
  address: string
  /** Cuts the power: all processes and pods of the node end immediately; its disk stays. */
  kill(): Promise<void>
  /** Starts the node, with its disk. Resolves before the node is ready. */
  start(): Promise<void>
  /** Unplugs the network cable. Pods keep running. */
  disconnect(): Promise<void>
  reconnect(): Promise<void>
  /** Keeps new pods away from the node, or admits them again. */
  setSchedulable(isSchedulable: boolean): Promise<void>
  /** Resolves when the API reports the node as ready, or as not ready. */
  untilReady(isReady?: boolean, timeoutMs?: number): Promise<void>
  /** Runs a program in the namespaces of the node, with the tools of the machine; returns its output. */
  run(program: string, args: string[], timeoutMs?: number): Promise<string>
  /** Paths of the logs by program. */
  logs: ReadonlyMap<string, string>
}

export type NodeOptions = {
  held: HeldSlot
  plan: NodePlan
  authority: Authority
  server: string
  api: Api
  pauseImage: string
  env: NodeJS.ProcessEnv
  /** Fills the folder of the node's engine with the images of the cluster. */
  fillImages(folder: string): Promise<void>
}

const init = join(import.meta.dirname, 'node-init.sh')
const handshakeTimeoutMs = 30_000

/** Prepares the disk of a node; `start` starts it. */
export async function createNode(options: NodeOptions): Promise<Node> {
  const { held, plan, authority, server, api, env } = options
  const folder = join(held.folder, plan.name)
  await writeNodeFiles(folder, options)
  const logs = new Map(
    ['init', 'containerd', 'kubelet', 'kube-proxy'].map((name) => [name, join(folder, `${name}.log`)]),
  )
  /** `first` is the first process of the node as this machine sees it. */
  let power: { daemon: Daemon; first: RecordedProcess } | null = null

  const patchNode = (body: unknown) => api.request('PATCH', `/api/v1/nodes/${plan.name}`, body)

  return {
    name: plan.name,
    address: plan.address,
    logs,
    async kill() {
      await power?.daemon.kill()
      // The kernel lets the first process of a namespace end after all others.
      if (power) await endProcesses([power.first])
      power = null
      await removeControlGroup(plan.controlGroup)
      await removeLink(plan.link)
    },
    async start() {
      if (power) throw new Error(`${plan.name} runs already`)
      await createControlGroup(plan.controlGroup)
      const nodeEnv = {
        ...env,
        NODE_FOLDER: folder,
        NODE_NAME: plan.name,
        NODE_ADDRESS: plan.address,
        NODE_GROUP: plan.controlGroup,
      }
      const namespaces = ['--net', '--mount', '--uts', '--ipc', '--pid', '--fork', '--kill-child=KILL']
      const log = join(folder, 'init.log')
      const daemon = await startDaemon('unshare', [...namespaces, init], {
        log,
        env: nodeEnv,
        hasPipes: true,
      })
      await held.add(daemon.pid)
      const [input, report] = [daemon.child.stdin, daemon.child.stdio[3]]
      if (!input || !(report instanceof Readable)) throw new Error('The node has no pipes.')
      const signal = AbortSignal.timeout(handshakeTimeoutMs)
      const hasNamespaces = await Promise.race([
        once(report, 'data', { signal }).then(
          () => true,
          () => false,
        ),
        daemon.ended.then(() => false),
      ])
      if (!hasNamespaces) throw new Error(`${plan.name} did not start:\n${await lastLines(log)}`)
      const children = await readFile(`/proc/${daemon.pid}/task/${daemon.pid}/children`, 'utf8')
      power = { daemon, first: await held.add(Number(children)) }
      await connectNode(held.slot, plan, daemon.pid)
      input.end('network\n')
      report.destroy()
    },
    disconnect: () => setLink(plan, 'down'),
    reconnect: () => setLink(plan, 'up'),
    async setSchedulable(isSchedulable) {
      await patchNode({ spec: { unschedulable: isSchedulable ? null : true } })
    },
    async untilReady(isReady = true, timeoutMs) {
      const find = (nodes: readonly NodeObject[]) =>
        nodes.some(
          ({ metadata, status }) => metadata.name === plan.name && isNodeReady(status) === isReady,
        ) || undefined
      await api.until('/api/v1/nodes', find, timeoutMs)
    },
    async run(program, args, timeoutMs) {
      if (!power) throw new Error(`${plan.name} has no power`)
      const target = ['--target', String(power.first.pid), '--mount', '--net', '--uts', '--ipc', '--pid']
      return run('nsenter', [...target, program, ...args], { env, timeoutMs })
    },
  }

  async function writeNodeFiles(target: string, { pauseImage, fillImages }: NodeOptions): Promise<void> {
    await mkdir(target, { recursive: true })
    const subfolders = ['logs', 'kubelet', 'certificates', 'volume-plugins', 'cni']
    for (const name of subfolders) await mkdir(join(target, name))
    await fillImages(join(target, 'containerd'))
    const [kubelet, proxy] = await Promise.all([
      authority.issue(plan.name, `/O=system:nodes/CN=system:node:${plan.name}`, [
        `DNS:${plan.name}`,
        `IP:${plan.address}`,
      ]),
      authority.issue(`${plan.name}-proxy`, '/CN=system:kube-proxy'),
    ])
    const engine = {
      root: join(target, 'containerd'),
      state: '/run/containerd',
      socket: '/run/containerd/containerd.sock',
      podNetworkFolder: join(target, 'cni'),
      pauseImage,
    }
    const common = { slot: held.slot, node: plan, folder: target }
    const files = {
      'kubelet.crt': kubelet.cert,
      'kubelet.key': kubelet.key,
      'kubelet.kubeconfig': kubeconfig(server, kubelet),
      'kube-proxy.kubeconfig': kubeconfig(server, proxy),
      'kubelet.json': kubeletConfiguration({ ...common, caFile: authority.caFile }),
      'kube-proxy.json': kubeProxyConfiguration(common),
      'containerd.toml': containerdConfiguration(engine),
      'cni/10-pods.conf': podNetworkConfiguration(plan),
      'resolv.conf': `nameserver ${held.slot.hostAddress}\n`,
    }
    for (const [name, text] of Object.entries(files))
      await writeFile(join(target, name), text, { mode: 0o600 })
  }
}

/** Nodes report "Unknown" when they stop responding. */
export function isNodeReady({ conditions = [] }: NodeObject['status']): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

async function createControlGroup(name: string): Promise<void> {
  // Leftovers of a killed node.
  await removeControlGroup(name)
  for (const parent of await cgroupFolders()) {
    await mkdir(join(parent, name))
    // The kernel adds no process to a group without processors and memory nodes.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const value = await readFile(join(parent, file), 'utf8').catch(() => null)
      if (value !== null) await appendFile(join(parent, name, file), value)
    }
  }
}
