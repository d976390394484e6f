import { getFleetHealth, getFleetStatus } from '@roost/contracts/operations/fleet'
import {
  emergencyStop,
  type FleetOutcome,
  restartFleet,
  stopFleet,
} from '@roost/contracts/operations/fleet-acts'
import { type Asked, verbsCommand } from './client/client-command.ts'
import { table, time } from './client/output.ts'
import { consents } from './terminal/ask.ts'

const which = { prefix: { type: 'string' }, yes: { type: 'boolean', short: 'y' } } as const
const whichLines = ['--prefix TEXT  only agents whose names begin with it', '--yes          without asking']

export const fleet = verbsCommand('fleet', 'All agents as one, for admins: how they are, restart, stop.', {
  status: {
    takes: '',
    summary: 'Every agent with what it works on and how full its context is.',
    async run({ api, print }) {
      const found = await api.call(getFleetStatus, {})
      print(found, () =>
        table(
          ['name', 'status', 'owner', 'running', 'queued', 'context', 'last active'],
          found.agents.map((agent) => [
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
    takes: '',
    summary: 'What is wrong with agents, and what to do; exit code 1 when something is critical.',
    async run({ api, print }) {
      const found = await api.call(getFleetHealth, {})
      print(found, () => {
        const issues = [
          ...found.critical_issues.map((issue) => [
            'critical',
            issue.agent,
            issue.issue,
            issue.recommendation,
          ]),
          ...found.warnings.map((issue) => ['warning', issue.agent, issue.issue, issue.recommendation]),
        ]
        const head = `The fleet is ${found.overall}; ${found.healthy_count} agents are healthy.`
        return issues.length === 0 ? head : `${head}\n\n${table(['', 'agent', 'what', 'what to do'], issues)}`
      })
      return found.overall === 'critical' ? 1 : 0
    },
  },
  restart: {
    takes: '',
    summary: 'Restart the running agents, one after another; what they work on is cancelled.',
    options: { ...which, recreate: { type: 'boolean' } },
    optionLines: [...whichLines, '--recreate     give each a new container; files stay'],
    async run(asked) {
      if (!(await consents(`Restart ${agentsOf(asked)}?`, asked.flag('yes')))) return 1
      const body = { name_prefix: asked.text('prefix'), recreate: asked.flag('recreate') }
      return told(asked, await asked.api.call(restartFleet, { body }))
    },
  },
  stop: {
    takes: '',
    summary: 'Stop the running agents, one after another; what they work on is cancelled.',
    options: which,
    optionLines: whichLines,
    async run(asked) {
      if (!(await consents(`Stop ${agentsOf(asked)}?`, asked.flag('yes')))) return 1
      return told(asked, await asked.api.call(stopFleet, { body: { name_prefix: asked.text('prefix') } }))
    },
  },
  'emergency-stop': {
    takes: '',
    summary: 'Halt everything: pause all schedules, cancel all runs, stop all agents.',
    options: { yes: which.yes },
    optionLines: ['--yes          without asking'],
    async run({ api, flag, print }) {
      if (!(await consents('Pause all schedules, cancel all runs and stop all agents?', flag('yes'))))
        return 1
      const done = await api.call(emergencyStop, { body: {} })
      print(done, () =>
        [
          done.message,
          ...done.errors.map((error) => `${error.agent_name ?? error.step}: ${error.message}`),
        ].join('\n'),
      )
      return done.success ? 0 : 1
    },
  },
})

function agentsOf({ text }: Asked): string {
  const prefix = text('prefix')
  return prefix ? `the running agents whose names begin with "${prefix}"` : 'all running agents'
}

/** Exit code 1 when an agent failed. */
function told({ print }: Asked, outcome: FleetOutcome): number {
  const { total, successes, failures, skipped } = outcome.summary
  print(outcome, () => {
    const head = `${successes} of ${total} done, ${failures} failed, ${skipped} skipped.`
    const rest = outcome.results.filter(({ result }) => result !== 'success')
    const rows = rest.map(({ agent, result, reason }) => [agent, result, reason ?? ''])
    return rows.length === 0 ? head : `${head}\n\n${table(['agent', 'result', 'why'], rows)}`
  })
  return failures === 0 ? 0 : 1
}
