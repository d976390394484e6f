import { startAgent, stopAgent } from '@roost/contracts/agents/lifecycle'
import { createAgent, deleteAgent, getAgent, listAgents, renameAgent } from '@roost/contracts/agents/registry'
import type { CallReply } from '@roost/contracts/client'
import { verbsCommand } from './client/client-command.ts'
import { facts, table, time } from './client/output.ts'
import { consents, needsYes } from './terminal/ask.ts'

export const agents = verbsCommand('agents', 'List, create, start, stop, rename and delete agents.', {
  list: {
    takes: '',
    summary: 'The agents that you can reach.',
    options: { tag: { type: 'string' } },
    optionLines: ['--tag A,B       with any of these tags'],
    async run({ api, text, print }) {
      const found = await api.call(listAgents, { query: { tags: text('tag') } })
      print(found, () =>
        table(
          ['name', 'status', 'runtime', 'owner', 'tags'],
          found.map(({ name, status, runtime, owner, tags }) => [
            name,
            status,
            runtime,
            owner,
            tags.join(' '),
          ]),
        ),
      )
    },
  },
  show: {
    takes: 'AGENT',
    summary: 'One agent in detail.',
    async run({ api, positionals: [name = ''], print }) {
      const agent = await api.call(getAgent, { params: { name } })
      print(agent, () =>
        facts({
          name: agent.name,
          label: agent.label,
          status: agent.status,
          runtime: agent.runtime,
          model: agent.runtime_model,
          owner: agent.owner,
          template: agent.template,
          cpu: agent.resources.cpu,
          memory: agent.resources.memory,
          tags: agent.tags.join(' '),
          autonomy: agent.autonomy_enabled ? 'on' : 'off',
          'read-only': agent.read_only_enabled ? 'on' : 'off',
          created: time(agent.created),
        }),
      )
    },
  },
  create: {
    takes: 'AGENT',
    summary: 'Create an agent and start it.',
    options: {
      template: { type: 'string' },
      runtime: { type: 'string' },
      model: { type: 'string' },
      cpu: { type: 'string' },
      memory: { type: 'string' },
      instructions: { type: 'string' },
    },
    optionLines: [
      '--template NAME  a template of the catalogue, or github:<org>/<repo>[@branch]',
      '--runtime NAME   claude-code (default) or gemini-cli; --model NAME; --cpu N; --memory 4g',
      '--instructions TEXT',
    ],
    async run({ api, positionals: [name = ''], text, print }) {
      const [cpu, memory] = [text('cpu'), text('memory')]
      const body = {
        name,
        template: text('template'),
        runtime: text('runtime'),
        runtime_model: text('model'),
        custom_instructions: text('instructions'),
        ...(cpu || memory ? { resources: { cpu, memory } } : {}),
      }
      // What the platform does not offer is its to refuse, in its own words.
      const made = await api.call(createAgent, { body: body as never })
      print(made, () => [`${made.name} is ${made.status}.`, ...remarks(made)].join('\n'))
    },
  },
  start: {
    takes: 'AGENT',
    summary: 'Start a stopped agent.',
    async run({ api, positionals: [name = ''], print }) {
      const reply = await api.call(startAgent, { params: { name } })
      print(reply, () => reply.message)
    },
  },
  stop: {
    takes: 'AGENT',
    summary: 'Stop an agent; what it works on is cancelled.',
    async run({ api, positionals: [name = ''], print }) {
      const reply = await api.call(stopAgent, { params: { name } })
      print(reply, () => reply.message)
    },
  },
  rename: {
    takes: 'AGENT NEW_NAME',
    summary: 'Give an agent another name.',
    async run({ api, positionals: [name = '', new_name = ''], print }) {
      const reply = await api.call(renameAgent, { params: { name }, body: { new_name } })
      print(reply, () => `${name} is now ${new_name}.`)
    },
  },
  delete: {
    takes: 'AGENT',
    summary: 'Delete an agent with its workspace, schedules and history of files. For good.',
    options: { yes: { type: 'boolean', short: 'y' } },
    optionLines: ['--yes            without asking; needed where there is no terminal'],
    async run({ api, positionals: [name = ''], flag, print }) {
      needsYes(flag('yes'))
      // Nobody is asked about an agent that is not there.
      if (!flag('yes')) await api.call(getAgent, { params: { name } })
      if (!(await consents(`Delete ${name} with everything in its workspace?`, flag('yes')))) return 1
      const reply = await api.call(deleteAgent, { params: { name } })
      print(reply, () => reply.message)
      return 0
    },
  },
})

/** What the owner of a new agent should know about it. */
function remarks(made: CallReply<typeof createAgent>): string[] {
  const { missing_credentials, template_warnings, schedule_errors, warnings } = made
  return [
    ...(missing_credentials.length > 0 ? [`Missing credentials: ${missing_credentials.join(', ')}.`] : []),
    ...template_warnings.map(({ message }) => `template.yaml: ${message}`),
    ...schedule_errors.map(
      ({ name, index, message }) => `Schedule ${name ?? index + 1} was not created: ${message}`,
    ),
    ...warnings,
  ]
}
