import { getFleetHealth, getFleetStatus } from '@roost/contracts/operations/fleet'
import {
  emergencyStop,
  type FleetOutcome,
  restartFleet,
  stopFleet,
} from '@roost/contracts/operations/fleet-acts'
import { type CommandContext, commandGroup } from './client/client-command.ts'
import { table, time } from './client/output.ts'
import { consents } from './terminal/ask.ts'

const selection = { prefix: { type: 'string' }, yes: { type: 'boolean', short: 'y' } } as const
const selectionLines = [
  '--prefix TEXT  only agents whose names start with TEXT',
  '--yes          skip the confirmation',
]

export const fleet = commandGroup(
  'fleet',
  'All agents together, for admins: status, health, restart, stop.',
  {
    status: {
      parameters: '',
      summary: 'List every agent with its running and queued work and its context usage.',
      async run({ api, print }) {
        const status = await api.call(getFleetStatus, {})
        print(status, () =>
          table(
            ['name', 'status', 'owner', 'running', 'queued', 'context', 'last active'],
            status.agents.map((agent) => [
              agent.name,
              agent.status,
              agent.owner,
              String(agent.active_executions),
              String(agent.queued_executions),
              agent.context ? `${agent.context.context_percent} %` : '',
              time(agent.last_activity_at),
            ]),
          ),
        )
        return 0
      },
    },
    health: {
      parameters: '',
      summary: 'List problems of agents and what to do; exit code 1 if one is critical.',
      async run({ api, print }) {
        const health = await api.call(getFleetHealth, {})
        print(health, () => {
          const issues = [
            ...health.critical_issues.map((issue) => [
              'critical',
              issue.agent,
              issue.issue,
              issue.recommendation,
            ]),
            ...health.warnings.map((issue) => ['warning', issue.agent, issue.issue, issue.recommendation]),
          ]
          const head = `Fleet: ${health.overall}. Healthy agents: ${health.healthy_count}.`
          return issues.length === 0
            ? head
            : `${head}\n\n${table(['', 'agent', 'problem', 'what to do'], issues)}`
        })
        return health.overall === 'critical' ? 1 : 0
      },
    },
    restart: {
      parameters: '',
      summary: 'Restart the running agents one by one; their running work is cancelled.',
      waiting: 'Restarting agents',
      options: { ...selection, recreate: { type: 'boolean' } },
      optionLines: [...selectionLines, '--recreate     give each a new container; files are kept'],
      async run(context) {
        if (!(await consents(`Restart ${describeSelection(context)}?`, context.flag('yes')))) return 1
        const body = { name_prefix: context.text('prefix'), recreate: context.flag('recreate') }
        return printOutcome(context, await context.api.call(restartFleet, { body }))
      },
    },
    stop: {
      parameters: '',
      summary: 'Stop the running agents one by one; their running work is cancelled.',
      waiting: 'Stopping agents',
      options: selection,
      optionLines: selectionLines,
      async run(context) {
        if (!(await consents(`Stop ${describeSelection(context)}?`, context.flag('yes')))) return 1
        return printOutcome(
          context,
          await context.api.call(stopFleet, { body: { name_prefix: context.text('prefix') } }),
        )
      },
    },
    'emergency-stop': {
      parameters: '',
      summary: 'Pause all schedules, cancel all runs and stop all agents.',
      options: { yes: selection.yes },
      optionLines: ['--yes          skip the confirmation'],
      async run({ api, flag, print }) {
        if (!(await consents('Pause all schedules, cancel all runs and stop all agents?', flag('yes'))))
          return 1
        const outcome = await api.call(emergencyStop, { body: {} })
        print(outcome, () =>
          [
            outcome.message,
            ...outcome.errors.map((error) => `${error.agent_name ?? error.step}: ${error.message}`),
          ].join('\n'),
        )
        return outcome.success ? 0 : 1
      },
    },
  },
)

function describeSelection({ text }: CommandContext): string {
  const prefix = text('prefix')
  return prefix ? `the running agents whose names start with "${prefix}"` : 'all running agents'
}

/** Prints the outcome; returns exit code 1 when an agent failed. */
function printOutcome({ print }: CommandContext, outcome: FleetOutcome): number {
  const { total, successes, failures, skipped } = outcome.summary
  print(outcome, () => {
    const head = `${successes} of ${total} done, ${failures} failed, ${skipped} skipped.`
    const notDone = outcome.results.filter(({ result }) => result !== 'success')
    const rows = notDone.map(({ agent, result, reason }) => [agent, result, reason ?? ''])
    return rows.length === 0 ? head : `${head}\n\n${table(['agent', 'result', 'reason'], rows)}`
  })
  return failures === 0 ? 0 : 1
}
