import { AgentDetails, AgentRow } from '@roost/contracts/agents/agent'
import { forkAgent } from '@roost/contracts/agents/forks'
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
import { asQuery, bodyOf, described, queryOf, request, without } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName, idempotent } from './parameters.ts'
import { templateGuide } from './template-guide.ts'

const name = agentName
const byName = { as: { '{name}': 'name' } }

export const agentTools: Tool[] = [
  tool({
    name: 'list_agents',
    isCore: true,
    description:
      'List the agents that you can reach, with their name, status (running, stopped, exited), runtime and tags. Call this first: every other tool takes an agent by its name.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(listAgents)],
    input: queryOf(listAgents),
    output: z.object({ agents: z.array(AgentRow), count: z.number().int() }),
    async run({ api }, query) {
      const agents = await api.call(listAgents, { query })
      return { agents, count: agents.length }
    },
  }),
  tool({
    name: 'get_agent',
    description:
      'Everything about one agent: status, owner, runtime and model, resources, autonomy, timeouts, sharing, health.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getAgent, byName)],
    input: { name },
    output: AgentDetails,
    run: ({ api }, params) => api.call(getAgent, { params }),
  }),
  tool({
    name: 'get_agent_info',
    description:
      'How an agent describes itself in its template: purpose, capabilities, example requests. Use it to choose the right agent for a piece of work. Keys of the template that have no effect are in template_warnings.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getAgentInfo, byName)],
    input: { name },
    run: ({ api }, params) => api.call(getAgentInfo, { params }),
  }),
  tool({
    name: 'create_agent',
    description:
      'Create an agent and start it: an isolated container with its own workspace and a coding CLI. It is ready for chat_with_agent when this returns. Read missing_credentials, schedule_errors, template_warnings and warnings in the result.',
    audience: 'person',
    effect: 'write',
    requests: [
      request(createAgent, {
        leftOut: {
          full_capabilities:
            'It gives the container sudo. An owner decides that in the settings of the agent.',
        },
      }),
    ],
    input: described(without(bodyOf(createAgent), 'full_capabilities'), {
      name: '1 to 63 characters: lowercase letters, digits, "-" and "_"; unique on the platform.',
      type: 'A word for its role. Defaults to the type of the template, else "business-assistant".',
      template:
        'A template of list_templates, or a repository: "github:<org>/<repo>", with "@<branch>" if needed.',
      runtime_model: 'Model of its runs, for example "sonnet".',
      resources: 'cpu is "1", "2", "4", "8" or "16"; memory "1g" to "32g".',
      custom_instructions: 'Added to its system prompt in every run.',
      github_repo: 'The repository to work on, as "<org>/<repo>".',
      source_branch: 'The branch of github_repo. Defaults to its default branch.',
      label: 'The name that people see.',
      ephemeral: 'Deletes the agent after that many runs or seconds, whichever comes first.',
    }),
    run: (call, body) => call.api.call(createAgent, { body, headers: idempotent(call) }),
  }),
  tool({
    name: 'fork_agent',
    description:
      'Create an agent from the workspace, settings and skills of another one, as it is now or was at a record or run. Read warnings in the result: they name what is not as in the source.',
    audience: 'person',
    effect: 'write',
    requests: [request(forkAgent, { as: { record: 'record_id', run: 'execution_id' } })],
    input: {
      agent_name: agentName,
      ...described(without(bodyOf(forkAgent), 'record', 'run'), {
        name: 'Name of the new agent; the rules of create_agent apply.',
        side: 'With execution_id: the workspace before the run (default) or after it.',
        with_schedules: 'Copies its schedules and event subscriptions too; they are disabled in the fork.',
        with_credentials: 'Copies its credential files and bound credentials too.',
        runtime_model: 'Model of its runs. Defaults to that of the source.',
      }),
      record_id: bodyOf(forkAgent).record.describe(
        'The id of a record, as list_history returns it. Without it and execution_id: the workspace now.',
      ),
      execution_id: bodyOf(forkAgent).run.describe('A run of the agent, instead of a record.'),
    },
    run(call, { agent_name, record_id: record, execution_id: run, ...body }) {
      const sent = { ...body, record, run }
      return call.api.call(forkAgent, { params: { name: agent_name }, body: sent, headers: idempotent(call) })
    },
  }),
  tool({
    name: 'rename_agent',
    description: 'Rename an agent. Its workspace, schedules and history stay.',
    audience: 'person',
    effect: 'write',
    requests: [request(renameAgent, byName)],
    input: {
      name,
      ...described(bodyOf(renameAgent), { new_name: 'The new name; the rules of create_agent apply.' }),
    },
    run: ({ api }, { name, ...body }) => api.call(renameAgent, { params: { name }, body }),
  }),
  tool({
    name: 'start_agent',
    description: 'Start a stopped agent.',
    audience: 'person',
    effect: 'write',
    requests: [request(startAgent, byName)],
    input: { name },
    run: ({ api }, params) => api.call(startAgent, { params }),
  }),
  tool({
    name: 'stop_agent',
    description:
      'Stop a running agent. Its runs end as cancelled and its workspace stays. It stays stopped until start_agent.',
    audience: 'person',
    effect: 'destroy',
    requests: [request(stopAgent, byName)],
    input: { name },
    run: ({ api }, params) => api.call(stopAgent, { params }),
  }),
  tool({
    name: 'delete_agent',
    description:
      'Delete an agent permanently, with its workspace, schedules, skills and tags. This cannot be undone.',
    audience: 'person',
    effect: 'destroy',
    requests: [request(deleteAgent, byName)],
    input: { name },
    run: ({ api }, params) => api.call(deleteAgent, { params }),
  }),
  tool({
    name: 'get_agent_logs',
    description:
      "The last lines of an agent's container log: how its program started and what went wrong. For the result of a run, use get_execution_result.",
    audience: 'everyone',
    effect: 'read',
    requests: [request(getAgentLogs, { as: { tail: 'lines' } })],
    input: {
      agent_name: agentName,
      lines: queryOf(getAgentLogs).tail.describe('Number of lines, counted from the end.'),
    },
    output: z.object({ agent_name: z.string(), logs: z.string() }),
    run: ({ api }, { agent_name, lines }) =>
      api.call(getAgentLogs, { params: { name: agent_name }, query: asQuery({ tail: lines }) }),
  }),
  tool({
    name: 'get_agent_ssh_access',
    description:
      "Credentials to log in to an agent's container over SSH, for a few hours. With a public key, that key is accepted; without one, a key pair or password is created and shown once.",
    audience: 'person',
    effect: 'write',
    requests: [request(grantSshAccess)],
    input: {
      agent_name: agentName,
      ...bodyOf(grantSshAccess),
      ttl_hours: bodyOf(grantSshAccess).ttl_hours.default(4).describe('How long the access lasts, in hours.'),
      public_key: bodyOf(grantSshAccess).public_key.describe('One line of an OpenSSH public key.'),
    },
    run: ({ api }, { agent_name, ...body }) =>
      api.call(grantSshAccess, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'list_templates',
    description: 'Templates that an agent can be created from: their purpose and the credentials they need.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(listTemplates)],
    input: {},
    async run({ api }) {
      const templates = await api.call(listTemplates, {})
      return { templates, count: templates.length }
    },
  }),
  tool({
    name: 'get_agent_requirements',
    description:
      'A guide to writing a template: the files of a repository that an agent can be created from.',
    audience: 'everyone',
    effect: 'read',
    requests: [],
    input: {},
    output: z.object({ guide: z.string() }),
    run: async () => ({ guide: templateGuide }),
  }),
]
