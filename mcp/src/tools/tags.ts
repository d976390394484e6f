import {
  addAgentTag,
  getAgentTags,
  listTags,
  putAgentTags,
  removeAgentTag,
} from '@roost/contracts/agents/tags'
import { bodyOf, pathOf, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

const tagWords = 'One word of lowercase letters, digits and hyphens.'

export const tagTools: Tool[] = [
  tool({
    name: 'list_tags',
    description: 'All tags in use, with the number of agents that have each.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(listTags)],
    input: {},
    run: ({ api }) => api.call(listTags, {}),
  }),
  tool({
    name: 'get_agent_tags',
    description: 'The tags of one agent.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getAgentTags)],
    input: { agent_name: agentName },
    run: ({ api }, { agent_name }) => api.call(getAgentTags, { params: { name: agent_name } }),
  }),
  tool({
    name: 'tag_agent',
    description: 'Add a tag to an agent.',
    audience: 'everyone',
    effect: 'write',
    requests: [request(addAgentTag)],
    input: { agent_name: agentName, tag: pathOf(addAgentTag).tag.describe(tagWords) },
    run: ({ api }, { agent_name, tag }) => api.call(addAgentTag, { params: { name: agent_name, tag } }),
  }),
  tool({
    name: 'untag_agent',
    description: 'Remove a tag from an agent.',
    audience: 'everyone',
    effect: 'write',
    requests: [request(removeAgentTag)],
    input: { agent_name: agentName, tag: pathOf(removeAgentTag).tag.describe(tagWords) },
    run: ({ api }, { agent_name, tag }) => api.call(removeAgentTag, { params: { name: agent_name, tag } }),
  }),
  tool({
    name: 'set_agent_tags',
    description: 'Replace all tags of an agent.',
    audience: 'everyone',
    effect: 'write',
    requests: [request(putAgentTags)],
    input: { agent_name: agentName, tags: bodyOf(putAgentTags).tags.describe(tagWords) },
    run: ({ api }, { agent_name, ...body }) => api.call(putAgentTags, { params: { name: agent_name }, body }),
  }),
]
