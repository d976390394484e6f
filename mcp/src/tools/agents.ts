import { AgentDetails, AgentRow, Cpu, Memory } from '@roost/contracts/agents/agent'
import { startAgent, stopAgent } from '@roost/contracts/agents/lifecycle'
import {
  createAgent,
  deleteAgent,
  getAgent,
  getAgentInfo,
  getAgentLogs,
  listAgents,
  renameAgent,
} from '@roost/contracts/agents/registry'
import { grantSshAccess } from '@roost/contracts/agents/settings'
import { listTemplates } from '@roost/contracts/agents/templates'
import { z } from 'zod'
import { type Tool, tool } from '../tool.ts'
import { agentName, idempotent } from './parameters.ts'
import { templateGuide } from './template-guide.ts'

const name = agentName

export const agentTools: Tool[] = [
  tool({
    name: 'list_agents',
    isCore: true,
    description:
      'List the agents that you can reach, with their name, status (running, stopped, exited), runtime and tags. Call this first: every other tool takes an agent by its name.',
    audience: 'everyone',
    effect: 'read',
    input: {},
    output: z.object({ agents: z.array(AgentRow), count: z.number().int() }),
    async run({ api }) {
      const agents = await api.call(listAgents, {})
      return { agents, count: agents.length }
    },
  }),
  tool({
    name: 'get_agent',
    description:
      'Everything about one agent: status, owner, runtime and model, resources, autonomy, timeouts, sharing, health.',
    audience: 'everyone',
    effect: 'read',
    input: { name },
    output: AgentDetails,
    run: ({ api }, params) => api.call(getAgent, { params }),
  }),
  tool({
    name: 'get_agent_info',
    description:
      'What an agent says of itself, from the template it was made from: description, purpose, capabilities, example requests. Use it to choose the right agent for a piece of work.',
    audience: 'everyone',
    effect: 'read',
    input: { name },
    run: ({ api }, params) => api.call(getAgentInfo, { params }),
  }),
  tool({
    name: 'create_agent',
    description:
      'Create an agent and start it: an isolated container with its own workspace and a coding CLI. It is ready for chat_with_agent when this returns.',
    audience: 'person',
    effect: 'write',
    input: {
      name: z
        .string()
        .describe('1 to 63 characters: lowercase letters, digits, "-" and "_"; unique on the platform.'),
      type: z.string().optional().describe('A word for its role; "business-assistant" when left out.'),
      template: z
        .string()
        .optional()
        .describe('A template of list_templates, or a repository: "github:<org>/<repo>" with "@<branch>".'),
      runtime: z.enum(['claude-code', 'gemini-cli']).optional(),
      runtime_model: z.string().optional().describe('Model of its runs, for example "sonnet".'),
      resources: z
        .strictObject({ cpu: Cpu.optional(), memory: Memory.optional() })
        .optional()
        .describe('cpu is "1", "2", "4", "8" or "16"; memory "1g" to "32g".'),
      custom_instructions: z.string().optional().describe('Added to its system prompt in every run.'),
      github_repo: z.string().optional().describe('"<org>/<repo>" to work on.'),
      ephemeral: z
        .strictObject({
          max_executions: z.number().int().min(1).max(100),
          ttl_seconds: z.number().int().min(60).max(604_800),
        })
        .optional()
        .describe('Makes it go away by itself, after so many runs or so much time.'),
    },
    run: (call, body) => call.api.call(createAgent, { body, headers: idempotent(call) }),
  }),
  tool({
    name: 'rename_agent',
    description: 'Give an agent another name. Its workspace, schedules and history stay.',
    audience: 'person',
    effect: 'write',
    input: { name, new_name: z.string().describe('The new name; same rules as for a new agent.') },
    run: ({ api }, { name, new_name }) => api.call(renameAgent, { params: { name }, body: { new_name } }),
  }),
  tool({
    name: 'start_agent',
    description: 'Start a stopped agent.',
    audience: 'person',
    effect: 'write',
    input: { name },
    run: ({ api }, params) => api.call(startAgent, { params }),
  }),
  tool({
    name: 'stop_agent',
    description:
      'Stop a running agent. What it works on ends as cancelled; its workspace stays. It stays stopped until it is started.',
    audience: 'person',
    effect: 'destroy',
    input: { name },
    run: ({ api }, params) => api.call(stopAgent, { params }),
  }),
  tool({
    name: 'delete_agent',
    description:
      'Delete an agent for good, with its workspace, schedules, skills and tags. This cannot be undone.',
    audience: 'person',
    effect: 'destroy',
    input: { name },
    run: ({ api }, params) => api.call(deleteAgent, { params }),
  }),
  tool({
    name: 'get_agent_logs',
    description:
      "The last lines of an agent's container log: how its program started and what went wrong. For what a run did, use get_execution_result.",
    audience: 'everyone',
    effect: 'read',
    input: {
      agent_name: agentName,
      lines: z.number().int().min(1).max(5000).default(100).describe('How many lines, the newest.'),
    },
    output: z.object({ agent_name: z.string(), logs: z.string() }),
    run: ({ api }, { agent_name, lines }) =>
      api.call(getAgentLogs, { params: { name: agent_name }, query: { tail: String(lines) } }),
  }),
  tool({
    name: 'get_agent_ssh_access',
    description:
      "Credentials to log in to an agent's container over SSH, for a few hours. With a public key the key is let in; without one a key pair or password is made and shown once.",
    audience: 'person',
    effect: 'write',
    input: {
      agent_name: agentName,
      ttl_hours: z.number().positive().max(24).default(4).describe('How long the access lasts, in hours.'),
      public_key: z.string().optional().describe('One line of an OpenSSH public key.'),
    },
    run: ({ api }, { agent_name, ttl_hours, public_key }) =>
      api.call(grantSshAccess, {
        params: { name: agent_name },
        body: { ttl_hours, public_key },
      }),
  }),
  tool({
    name: 'list_templates',
    description: 'Templates that an agent can be made from, with what they are for and what they need.',
    audience: 'everyone',
    effect: 'read',
    input: {},
    async run({ api }) {
      const templates = await api.call(listTemplates, {})
      return Array.isArray(templates) ? { templates, count: templates.length } : templates
    },
  }),
  tool({
    name: 'get_agent_requirements',
    description: 'A guide to writing a template: the files of a repository that an agent can be made from.',
    audience: 'everyone',
    effect: 'read',
    input: {},
    output: z.object({ guide: z.string() }),
    run: async () => ({ guide: templateGuide }),
  }),
]
