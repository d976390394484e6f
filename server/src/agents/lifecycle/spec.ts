import { exposedPath } from '@roost/contracts/agents/folders'
import { formatPlatformAddress, parsePlatformAddress } from '@roost/contracts/link/addresses'
import type { AgentsNetwork, ContainerSpec, Mount } from '../../ports/containers/port.ts'
import type { Agent } from '../records/index.ts'
import { type FolderMount, folderMounts } from './folder-mount.ts'
import { networkFor } from './rules.ts'

/** Options shared by all containers of this installation. */
export type ContainerOptions = {
  network: AgentsNetwork
  internalPort: number
  /** Where agents reach the platform, with this process first. */
  platformAddresses: readonly string[]
  tmpBytes: number
  sshBind: string
  /** Prefix of the container names. */
  containerPrefix: string
  /** CPUs of the host; the upper limit for each container. */
  hostCpus: number
}

export type SpecInput = {
  agent: Pick<
    Agent,
    | 'id'
    | 'name'
    | 'type'
    | 'volume_base'
    | 'port'
    | 'runtime'
    | 'runtime_model'
    | 'template_model'
    | 'cpu'
    | 'memory'
    | 'full_capabilities'
    | 'created'
    | 'template'
    | 'github_repo'
    | 'source_branch'
    | 'egress_mode'
  >
  image: { image: string; version: string }
  /** The agent's own key, accepted only by the platform. */
  agentKey: string
  /** Repository settings at creation of the container; null without a repository. */
  git: { sourceMode: boolean; workingBranch: string } | null
  /** Null without a template. */
  template: { name: string } | null
  /** Folders of other agents. */
  folders: readonly FolderMount[]
  /** OCI runtime to request; null for the engine's default. */
  containerRuntime: string | null
}

export const maxProcesses = 2048
const home = '/home/developer'

export type VolumeKind = 'workspace' | 'shared' | 'private'

/** `private` holds the homes of the people who share the agent, and the files of the agent program. */
export function volumesOf({ volume_base }: Pick<Agent, 'volume_base'>): Record<VolumeKind, string> {
  const name = (kind: VolumeKind) => `agent-${volume_base}-${kind}`
  return { workspace: name('workspace'), shared: name('shared'), private: name('private') }
}

/** The volumes that only the agent's engine has: readers' engines may have a copy of the shared one. */
export function ownVolumes(volumes: readonly string[]): readonly string[] {
  const own = volumes.filter((volume) => !volume.endsWith('-shared'))
  return own.length > 0 ? own : volumes
}

export function containerSpec(input: SpecInput, options: ContainerOptions): ContainerSpec {
  const { agent, image } = input
  return {
    name: options.containerPrefix + agent.name,
    image: image.image,
    labels: {
      'roost.platform': 'agent',
      'roost.agent-id': agent.id,
      'roost.agent-name': agent.name,
      'roost.agent-type': agent.type,
      'roost.ssh-port': String(agent.port),
      'roost.cpu': agent.cpu,
      'roost.memory': agent.memory,
      'roost.created': agent.created,
      'roost.template': agent.template ?? '',
      'roost.runtime': agent.runtime,
      'roost.full-capabilities': String(agent.full_capabilities),
      'roost.image-version': image.version,
    },
    env: environment(input, options),
    cpus: Math.min(Number(agent.cpu), options.hostCpus),
    memoryBytes: Number.parseInt(agent.memory, 10) * 1024 ** 3,
    maxProcesses,
    tmpBytes: options.tmpBytes,
    fullCapabilities: agent.full_capabilities,
    mounts: mounts(input),
    ...(input.containerRuntime ? { runtime: input.containerRuntime } : {}),
    isClosed: networkFor(agent.egress_mode) === 'closed',
    ssh: agent.port > 0 ? { bind: options.sshBind, port: agent.port } : null,
  }
}

/** Contains no provider key and no git token: both stay in the platform. */
function environment(input: SpecInput, options: ContainerOptions): Record<string, string> {
  const { agent, image, template, git, agentKey } = input
  const { internalPort, network } = options
  const addresses = options.platformAddresses.map(parsePlatformAddress).filter((each) => each !== null)
  const [first = { host: null, port: internalPort }, ...further] = addresses
  const platformAddress = formatPlatformAddress({ ...first, host: first.host ?? network.platformUrlHost })
  const model = agent.runtime_model ?? agent.template_model
  return {
    AGENT_NAME: agent.name,
    AGENT_TYPE: agent.type,
    AGENT_RUNTIME: agent.runtime,
    ...(model ? { AGENT_RUNTIME_MODEL: model } : {}),
    ...(template ? { TEMPLATE_NAME: template.name } : {}),
    ROOST_LINK_URL: `ws://${platformAddress}/link`,
    // A variable of its own: programs of the first release read one address from the other.
    ...(further.length > 0 ? { ROOST_LINK_ADDRESSES: further.map(formatPlatformAddress).join(',') } : {}),
    ROOST_BROKER_URL: `http://${platformAddress}/broker`,
    ROOST_MCP_URL: `http://${platformAddress}/mcp`,
    ROOST_AGENT_KEY: agentKey,
    ROOST_IMAGE_VERSION: image.version,
    TMPDIR: `${home}/.tmp`,
    // Its forwarder listens on loopback and leads to the socket.
    ...(network.hostAddress.type === 'unix' ? { ROOST_GATEWAY_PORT: String(internalPort) } : {}),
    ...(agent.github_repo ? { GITHUB_REPO: agent.github_repo } : {}),
    ...(agent.source_branch ? { GIT_SOURCE_BRANCH: agent.source_branch } : {}),
    ...(git ? { GIT_SOURCE_MODE: String(git.sourceMode), GIT_WORKING_BRANCH: git.workingBranch } : {}),
  }
}

function mounts({ agent, folders }: SpecInput): Mount[] {
  const volumes = volumesOf(agent)
  return [
    { type: 'volume', volume: volumes.workspace, target: home },
    { type: 'volume', volume: volumes.shared, target: exposedPath },
    { type: 'volume', volume: volumes.private, target: '/var/lib/roost' },
    ...folderMounts(folders),
  ]
}

/** Labels of the volumes, so that they can be found by kind and agent name. */
export function volumeLabels(agent: Pick<Agent, 'name'>, kind: VolumeKind) {
  return { 'roost.platform': `agent-${kind}`, 'roost.agent-name': agent.name }
}
