import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams } from '../kit/primitives.ts'
import { Tag, Tags } from './agent.ts'

const tag = 'Agents'
const AgentTags = z.object({ agent_name: z.string(), tags: z.array(z.string()) })
const TagParams = AgentParams.extend({ tag: Tag })

export const listTags = endpoint({
  id: 'listTags',
  method: 'GET',
  path: '/api/tags',
  summary: 'Tags of the agents that you can access, most used first',
  tag,
  access: { who: 'any' },
  returns: z.object({ tags: z.array(z.object({ tag: z.string(), count: z.number().int() })) }),
})

export const getAgentTags = endpoint({
  id: 'getAgentTags',
  method: 'GET',
  path: '/api/agents/{name}/tags',
  summary: "An agent's tags",
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: AgentTags,
  fails: ['agent_not_found'],
})

export const putAgentTags = endpoint({
  id: 'putAgentTags',
  method: 'PUT',
  path: '/api/agents/{name}/tags',
  summary: "Replace an agent's tags",
  tag,
  access: { who: 'owner' },
  params: AgentParams,
  body: z.object({ tags: Tags }),
  returns: AgentTags,
  fails: ['agent_not_found', 'human_only'],
  audit: { type: 'configuration', action: 'set_tags' },
})

export const addAgentTag = endpoint({
  id: 'addAgentTag',
  method: 'POST',
  path: '/api/agents/{name}/tags/{tag}',
  summary: 'Add a tag; adding it twice changes nothing',
  tag,
  access: { who: 'owner' },
  params: TagParams,
  returns: AgentTags,
  fails: ['agent_not_found', 'human_only', 'conflict'],
  audit: { type: 'configuration', action: 'add_tag' },
})

export const removeAgentTag = endpoint({
  id: 'removeAgentTag',
  method: 'DELETE',
  path: '/api/agents/{name}/tags/{tag}',
  summary: 'Remove a tag; removing an absent one changes nothing',
  tag,
  access: { who: 'owner' },
  params: TagParams,
  returns: AgentTags,
  fails: ['agent_not_found', 'human_only'],
  audit: { type: 'configuration', action: 'remove_tag' },
})
