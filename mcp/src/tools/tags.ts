import {
  addAgentTag,
  getAgentTags,
  listTags,
  putAgentTags,
  removeAgentTag,
} from '@roost/contracts/agents/tags'
import { z } from 'zod'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

const tag = z.string().min(1).describe('One word in lowercase letters, digits and hyphens.')

export const tagTools: Tool[] = [
  tool({
    name: 'list_tags',
    description: 'All tags in use, with how many agents carry each.',
    audience: 'everyone',
    effect: 'read',
    input: {},
    async run({ api }) {
      const tags = await api.call(listTags, {})
      return Array.isArray(tags) ? { tags, count: tags.length } : tags
    },
  }),
  tool({
    name: 'get_agent_tags',
    description: 'The tags of one agent.',
    audience: 'everyone',
    effect: 'read',
    input: { agent_name: agentName },
    run: ({ api }, { agent_name }) => api.call(getAgentTags, { params: { name: agent_name } }),
  }),
  tool({
    name: 'tag_agent',
    description: 'Give an agent one more tag.',
    audience: 'everyone',
    effect: 'write',
    input: { agent_name: agentName, tag },
    run: ({ api }, { agent_name, tag }) => api.call(addAgentTag, { params: { name: agent_name, tag } }),
  }),
  tool({
    name: 'untag_agent',
    description: 'Take a tag from an agent.',
    audience: 'everyone',
    effect: 'write',
    input: { agent_name: agentName, tag },
    run: ({ api }, { agent_name, tag }) => api.call(removeAgentTag, { params: { name: agent_name, tag } }),
  }),
  tool({
    name: 'set_agent_tags',
    description: 'Replace all tags of an agent by these.',
    audience: 'everyone',
    effect: 'write',
    input: { agent_name: agentName, tags: z.array(tag).max(50) },
    run: ({ api }, { agent_name, tags }) =>
      api.call(putAgentTags, { params: { name: agent_name }, body: { tags } }),
  }),
]
