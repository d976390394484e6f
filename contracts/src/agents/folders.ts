import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams } from '../kit/primitives.ts'
import { agentStatuses } from './agent.ts'

const tag = 'Folders'

/** What an agent publishes stands here in its own container, ... */
export const exposedPath = '/home/developer/shared-out'
/** ... and here, under the publisher's name, in those of its consumers, who write in it as well. */
export const consumedPath = '/home/developer/shared-in'

export function mountPathOf(publisher: string): string {
  return `${consumedPath}/${publisher}`
}

/** Containers take folders when they start: what holds now, and what will after the next start. */
const Mounting = z.object({
  /** The consumer runs, and its container has the folder. */
  currently_mounted: z.boolean(),
  /** `gone`: a start takes it away, since something that it stands on was withdrawn. */
  after_restart: z.enum(['mounted', 'gone']),
})

/** One folder of another agent. The publisher may be there under another name by now, or not at all. */
export const ConsumedFolder = Mounting.extend({
  source_agent: z.string(),
  mount_path: z.string(),
  access_mode: z.literal('rw'),
})
export type ConsumedFolder = z.output<typeof ConsumedFolder>

export const SharedFolders = z.object({
  agent_name: z.string(),
  expose_enabled: z.boolean(),
  consume_enabled: z.boolean(),
  /** Null while nothing is published. */
  exposed_volume: z.string().nullable(),
  exposed_path: z.string(),
  /** What is mounted now and what will be. Who is not the owner sees those only of agents that they reach. */
  consumed_folders: z.array(ConsumedFolder),
  /** The agent is up with other folders than its next start would give it. */
  restart_required: z.boolean(),
})
export type SharedFolders = z.output<typeof SharedFolders>

export const AvailableFolder = z.object({
  source_agent: z.string(),
  volume_name: z.string(),
  mount_path: z.string(),
  source_status: z.enum(agentStatuses),
})
export type AvailableFolder = z.output<typeof AvailableFolder>

export const FolderConsumer = Mounting.extend({
  agent_name: z.string(),
  mount_path: z.string(),
  status: z.enum(agentStatuses),
})
export type FolderConsumer = z.output<typeof FolderConsumer>

export const getFolders = endpoint({
  id: 'getAgentFolders',
  method: 'GET',
  path: '/api/agents/{name}/folders',
  summary: 'What an agent publishes, and which folders of others it reads',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: SharedFolders,
  fails: ['agent_not_found'],
})

export const putFolders = endpoint({
  id: 'putAgentFolders',
  method: 'PUT',
  path: '/api/agents/{name}/folders',
  summary: 'Publish the folder of an agent, or let it read those of others',
  description:
    'An agent reads the folder of every agent that publishes one and that it may call. Applied at the next start of the reader.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z
    .object({ expose_enabled: z.boolean().nullish(), consume_enabled: z.boolean().nullish() })
    .refine((body) => Object.values(body).some((value) => value != null), 'changes nothing'),
  returns: SharedFolders,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'set_folders' },
})

export const listAvailableFolders = endpoint({
  id: 'listAvailableFolders',
  method: 'GET',
  path: '/api/agents/{name}/folders/available',
  summary: 'Folders that an agent may read: published by agents that it may call',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: z.object({
    agent_name: z.string(),
    available_folders: z.array(AvailableFolder),
    count: z.number().int(),
  }),
  fails: ['agent_not_found'],
})

export const listFolderConsumers = endpoint({
  id: 'listFolderConsumers',
  method: 'GET',
  path: '/api/agents/{name}/folders/consumers',
  summary: 'Agents that read the folder of an agent, or will after their next start',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: z.object({
    source_agent: z.string(),
    consumers: z.array(FolderConsumer),
    count: z.number().int(),
  }),
  fails: ['agent_not_found'],
})
