import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams } from '../kit/primitives.ts'
import { agentStatuses } from './agent.ts'

const tag = 'Folders'

/** The published folder in the publisher's own container. */
export const exposedPath = '/home/developer/shared-out'
/** Published folders in a consumer's container, by the publisher's name. Consumers may write to them. */
export const consumedPath = '/home/developer/shared-in'

export function mountPathOf(publisher: string): string {
  return `${consumedPath}/${publisher}`
}

/** Folders are mounted at the start of a container: the state now and after the next start. */
const Mounting = z.object({
  /** The consumer is running and its container has the folder. */
  currently_mounted: z.boolean(),
  /** `gone`: the next start unmounts it, because a permission or setting was withdrawn. */
  after_restart: z.enum(['mounted', 'gone']),
})

/** One folder of another agent. The publisher may have been renamed or deleted since. */
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
  /** Folders mounted now or after the next start. Others than the owner see only agents that they can access. */
  consumed_folders: z.array(ConsumedFolder),
  /** The agent is running with other folders than after its next start. */
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
  summary: 'The folder that an agent publishes, and the folders that it mounts',
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
  summary: 'Publish the folder of an agent, or let it mount folders of others',
  description:
    'An agent mounts the folder of every publishing agent that it may call. Applies from the next start of the reader on.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z
    .object({ expose_enabled: z.boolean().nullish(), consume_enabled: z.boolean().nullish() })
    .refine((body) => Object.values(body).some((value) => value != null), 'must have at least one field'),
  returns: SharedFolders,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'set_folders' },
})

export const listAvailableFolders = endpoint({
  id: 'listAvailableFolders',
  method: 'GET',
  path: '/api/agents/{name}/folders/available',
  summary: 'Folders that an agent may mount: those of publishing agents that it may call',
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
  summary: 'Agents that mount the folder of an agent now or after their next start',
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
