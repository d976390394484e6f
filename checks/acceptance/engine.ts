/** The container engine of the agents as its administrator sees it: Docker, or a Kubernetes cluster. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Loose } from './platform.ts'

const run = promisify(execFile)
/** A client may wait forever for a node or an engine that does not answer. */
const limitMs = 5 * 60_000

/** Path of a `kubectl`, which reads `KUBECONFIG`: agents then run on that cluster. */
const kubectl = () => process.env.ROOST_TEST_KUBECTL

/** For `skip`: tests of Docker's own behaviour, or of what a cluster does not offer. */
export const dockerOnly = kubectl() ? 'This test needs agents on Docker.' : false

/** The address with the agents' SSH ports. */
export const sshHost = process.env.ROOST_TEST_SSH_HOST ?? '127.0.0.1'

/** The output of Docker's client, or its error stream when it fails. */
export function docker(...args: string[]): Promise<string> {
  return outputOf('docker', args).catch(errorStream)
}

type Program = { user?: string; command: readonly string[] }

/** The output of a program in an agent's container, or its error stream when it fails. */
export function execIn(agent: string, program: Program): Promise<string> {
  return mustExecIn(agent, program).catch(errorStream)
}

/** The output of a program in an agent's container. Rejects when it fails. */
export async function mustExecIn(agent: string, { user, command }: Program): Promise<string> {
  const client = kubectl()
  if (!client)
    return outputOf('docker', ['exec', ...(user ? ['-u', user] : []), `agent-${agent}`, ...command])
  const home = user === 'root' ? '/root' : `/home/${user}`
  const as = user ? ['env', `HOME=${home}`, 'setpriv', '--reuid', user, '--regid', user, '--init-groups'] : []
  return outputOf(client, ['exec', await podOf(agent), '-c', 'agent', '--', ...as, ...command])
}

/** The names of the containers that exist, running or not. */
export async function containerNames(): Promise<string[]> {
  if (!kubectl()) return (await docker('ps', '-a', '--format', '{{.Names}}')).split('\n')
  const secrets = await list('secrets')
  return secrets.map(({ metadata }) => String(metadata.name).replace(/^roost-/, ''))
}

/** The names of the volumes that exist. */
export async function volumeNames(): Promise<string[]> {
  if (!kubectl()) return (await docker('volume', 'ls', '--format', '{{.Name}}')).split('\n')
  return (await list('persistentvolumeclaims')).map(({ metadata }) => metadata.name)
}

/** Whether the container of an agent is running. */
export async function isContainerRunning(agent: string): Promise<boolean> {
  if (!kubectl()) return (await docker('inspect', '-f', '{{.State.Running}}', `agent-${agent}`)) === 'true'
  return (await podsOf(agent)).length > 0
}

/** The limits of an agent's container. */
export async function limitsOf(agent: string): Promise<{ memoryBytes: number; cpus: number }> {
  if (!kubectl()) {
    const format = '{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}}'
    const [memory, nanoCpus] = (await docker('inspect', '-f', format, `agent-${agent}`)).split(' ')
    return { memoryBytes: Number(memory), cpus: Number(nanoCpus) / 1e9 }
  }
  const [pod] = await podsOf(agent)
  const { memory, cpu } = pod?.spec.containers[0].resources.limits ?? {}
  return {
    memoryBytes: Number(memory),
    cpus: Number.parseInt(cpu, 10) / (String(cpu).endsWith('m') ? 1000 : 1),
  }
}

let listing: Promise<Loose[]> | null = null

/** Concurrent callers share one list: a `kubectl` takes up to a second of processor time. */
async function podOf(agent: string): Promise<string> {
  listing ??= list('pods').finally(() => {
    listing = null
  })
  const [pod] = runningOf(await listing, agent)
  if (!pod) throw new Error(`No pod of the agent ${agent} is running.`)
  return pod.metadata.name
}

async function podsOf(agent: string): Promise<Loose[]> {
  return runningOf(await list('pods'), agent)
}

/** Pods that are being deleted are left out. */
function runningOf(pods: Loose[], agent: string): Loose[] {
  return pods.filter(
    ({ metadata, status }) =>
      metadata.annotations?.['roost.name'] === `agent-${agent}` &&
      metadata.deletionTimestamp === undefined &&
      status.phase === 'Running',
  )
}

async function list(kind: string): Promise<Loose[]> {
  return JSON.parse(await outputOf(kubectl() ?? 'kubectl', ['get', kind, '-o', 'json'])).items
}

async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const limits = { maxBuffer: 64 * 1024 * 1024, timeout: limitMs, killSignal: 'SIGKILL' as const }
  return (await run(program, args, limits)).stdout.trim()
}

/** Of a program that failed by itself. */
function errorStream(error: { stderr?: string; killed?: boolean }): string {
  if (error.killed) throw error
  return error.stderr ?? ''
}
