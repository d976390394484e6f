import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { DiskUsage } from '@roost/contracts/agents/disk'
import { getInnerNetworks, putInnerNetworks } from '@roost/contracts/agents/inner-networks'
import { getIsolation, putIsolation } from '@roost/contracts/agents/isolation'
import { startAgent, stopAgent } from '@roost/contracts/agents/lifecycle'
import { createAgent, deleteAgent, getAgent, listAgents, renameAgent } from '@roost/contracts/agents/registry'
import type { CallReply } from '@roost/contracts/client'
import { bytesText } from '@roost/contracts/kit/bytes'
import { exportCommand, importCommand } from './agent-transfer.ts'
import { commandGroup } from './client/client-command.ts'
import { facts, table, time } from './client/output.ts'
import { UsageError } from './command.ts'
import { forkCommand } from './fork.ts'
import { consents, needsYes } from './terminal/ask.ts'

export const agents = commandGroup(
  'agents',
  'List, create, fork, start, stop, rename, move and delete agents.',
  {
    list: {
      parameters: '',
      summary: 'List the agents that you can access.',
      options: { tag: { type: 'string' } },
      optionLines: ['--tag A,B       only agents with any of these tags'],
      async run({ api, text, print }) {
        const agentList = await api.call(listAgents, { query: { tags: text('tag') } })
        print(agentList, () =>
          table(
            ['name', 'status', 'runtime', 'owner', 'tags'],
            agentList.map(({ name, status, runtime, owner, tags }) => [
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
      parameters: 'AGENT',
      summary: 'Show one agent.',
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
            'forked from':
              agent.forked_from && `${agent.forked_from.agent_name}, ${time(agent.forked_from.record_at)}`,
            cpu: agent.resources.cpu,
            memory: agent.resources.memory,
            isolation: isolationText(agent.isolation),
            disk: diskText(agent.disk),
            tags: agent.tags.join(' '),
            autonomy: agent.autonomy_enabled ? 'on' : 'off',
            'read-only': agent.read_only_enabled ? 'on' : 'off',
            created: time(agent.created),
          }),
        )
      },
    },
    create: {
      parameters: 'AGENT',
      summary: 'Create an agent and start it.',
      waiting: 'Creating the agent',
      options: {
        template: { type: 'string' },
        runtime: { type: 'string' },
        model: { type: 'string' },
        cpu: { type: 'string' },
        memory: { type: 'string' },
        instructions: { type: 'string' },
      },
      optionLines: [
        '--template NAME  a template from the catalogue, or github:<org>/<repo>[@branch]',
        '--runtime NAME   claude-code (default) or gemini-cli; --model NAME; --cpu N; --memory 4g',
        '--instructions TEXT  custom instructions',
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
        // The platform validates the values, so its own message names the invalid one.
        const newAgent = await api.call(createAgent, { body: body as never })
        print(newAgent, () =>
          [`${newAgent.name} is ${newAgent.status}.`, ...creationNotes(newAgent)].join('\n'),
        )
      },
    },
    isolation: {
      parameters: 'AGENT [RUNTIME]',
      summary: 'Show the OCI runtime of an agent, or set it (admins only).',
      optionLines: [
        'RUNTIME          runc, runsc (gVisor), kata, or another that the engine lists; applies at the next start',
        '                 "default" restores the runtime of the installation',
      ],
      async run({ api, positionals: [name = '', runtime], print }) {
        const params = { name }
        const body = { runtime: runtime === 'default' ? null : (runtime ?? null) }
        const reply =
          runtime === undefined
            ? await api.call(getIsolation, { params })
            : await api.call(putIsolation, { params, body })
        print(reply, () =>
          facts({
            'own runtime': reply.runtime,
            'current container': reply.current_runtime,
            'next container': reply.effective_runtime ?? 'the engine has no OCI runtimes',
            'available runtimes': reply.available_runtimes.join(' '),
            'restart needed': reply.restart_needed ? 'yes' : 'no',
          }),
        )
      },
    },
    networks: {
      parameters: '',
      summary: 'Show the private addresses that all agents may reach, or change them (admins only).',
      options: { open: { type: 'string' }, close: { type: 'string' } },
      optionLines: [
        '--open A,B       add addresses or networks: 10.0.0.5, 10.0.0.5:443, 10.1.0.0/16',
        '--close A,B      remove entries; running agents follow immediately',
      ],
      async run({ api, text, print }) {
        const listOf = (option: string) =>
          (text(option) ?? '').split(',').filter((entry) => entry.trim() !== '')
        const [added, removed] = [listOf('open'), listOf('close')]
        const before = await api.call(getInnerNetworks, {})
        const missing = removed.find((entry) => !before.opened.includes(entry))
        if (missing !== undefined) throw new UsageError(`${missing} is not in the list.`)
        const opened = [...before.opened.filter((entry) => !removed.includes(entry)), ...added]
        const isChange = added.length + removed.length > 0
        const reply = isChange ? await api.call(putInnerNetworks, { body: { opened } }) : before
        print(reply, () =>
          facts({
            'private networks': reply.is_closed ? 'closed to agents' : (reply.problem ?? 'not checked yet'),
            except: reply.opened.join(' ') || 'none',
          }),
        )
      },
    },
    start: {
      parameters: 'AGENT',
      summary: 'Start a stopped agent.',
      waiting: 'Starting the agent',
      async run({ api, positionals: [name = ''], print }) {
        const reply = await api.call(startAgent, { params: { name } })
        print(reply, () => reply.message)
      },
    },
    stop: {
      parameters: 'AGENT',
      summary: 'Stop an agent; its running work is cancelled.',
      waiting: 'Stopping the agent',
      async run({ api, positionals: [name = ''], print }) {
        const reply = await api.call(stopAgent, { params: { name } })
        print(reply, () => reply.message)
      },
    },
    rename: {
      parameters: 'AGENT NEW_NAME',
      summary: 'Rename an agent.',
      async run({ api, positionals: [name = '', new_name = ''], print }) {
        const reply = await api.call(renameAgent, { params: { name }, body: { new_name } })
        print(reply, () => `${name} is now ${new_name}.`)
      },
    },
    fork: forkCommand,
    export: exportCommand,
    import: importCommand,
    delete: {
      parameters: 'AGENT',
      summary: 'Delete an agent with its workspace, schedules and file history. This cannot be undone.',
      waiting: 'Deleting the agent',
      options: { yes: { type: 'boolean', short: 'y' } },
      optionLines: ['--yes            skip the confirmation; required without a terminal'],
      async run({ api, positionals: [name = ''], flag, print }) {
        needsYes(flag('yes'))
        // Fails before the question when the agent does not exist.
        if (!flag('yes')) await api.call(getAgent, { params: { name } })
        if (!(await consents(`Delete agent ${name} and its workspace? This cannot be undone.`, flag('yes'))))
          return 1
        const reply = await api.call(deleteAgent, { params: { name } })
        print(reply, () => reply.message)
        return 0
      },
    },
  },
)

/** Usage and quota with what they mean for the agent. */
export function diskText({ used_bytes, quota_bytes, state }: DiskUsage): string {
  const used = used_bytes === null ? 'not measured yet' : bytesText(used_bytes)
  const quota = quota_bytes === 0 ? 'no quota' : `quota ${bytesText(quota_bytes)}`
  const meaning = { ok: '', low: '; almost full', full: '; full: new runs wait' }[state]
  return `${used} (${quota}${meaning})`
}

/** Problems of a new agent that its owner should know. */
function creationNotes(newAgent: CallReply<typeof createAgent>): string[] {
  const { missing_credentials, template_warnings, schedule_errors, warnings } = newAgent
  return [
    ...(missing_credentials.length > 0 ? [`Missing credentials: ${missing_credentials.join(', ')}.`] : []),
    ...template_warnings.map(({ message }) => `template.yaml: ${message}`),
    ...schedule_errors.map(
      ({ name, index, message }) => `Schedule ${name ?? index + 1} was not created: ${message}`,
    ),
    ...warnings,
  ]
}

/** The isolation of an agent in a few words, such as `own kernel (runsc)`. */
function isolationText({ level, runtime }: AgentDetails['isolation']): string {
  const words = level.replaceAll('_', ' ')
  return runtime === null ? words : `${words} (${runtime})`
}
