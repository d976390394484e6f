import type { CreateAgent } from '@roost/contracts/agents/registry'
import { type demoAgentNames, demoMessages } from '@roost/contracts/operations/demo'
import type { CreateSchedule } from '@roost/contracts/triggers/schedules'
import type { AgentPatch } from '../../agents/records/index.ts'
import { dayOf } from './history.ts'

export type DemoAgent = {
  body: Pick<CreateAgent, 'label' | 'custom_instructions'> & { name: (typeof demoAgentNames)[number] }
  columns: AgentPatch
  /** Messages of the runs that start when the agent exists. */
  messages: readonly string[]
  /** Model of all its runs. */
  model: string
  history: { runsPerDay: number; messages: readonly string[] }
  schedule?: Pick<CreateSchedule, 'name' | 'cron_expression' | 'message' | 'description'>
  canvas?(now: Date): unknown
}

/** Time of the daily schedule, in UTC. */
export const digestHour = 7

export const demoAgents: readonly DemoAgent[] = [
  {
    body: {
      name: 'demo-support',
      label: 'Customer support (demo)',
      custom_instructions: 'Answer customers politely. Ask a person before you refund more than 200 EUR.',
    },
    // The answer to its question starts a run.
    columns: { operator_resume: 1 },
    messages: [demoMessages.summarizeTickets, demoMessages.askRefund],
    model: 'claude-sonnet-5',
    history: {
      runsPerDay: 4,
      messages: [
        demoMessages.summarizeTickets,
        'Answer the customer who cannot sign in.',
        'Sort the new tickets by topic.',
      ],
    },
  },
  {
    body: {
      name: 'demo-developer',
      label: 'Developer (demo)',
      custom_instructions: 'Keep changes small, and show the diff before you commit.',
    },
    columns: {},
    messages: [demoMessages.fixRounding, demoMessages.deploy],
    model: 'claude-opus-5',
    history: {
      runsPerDay: 3,
      messages: [
        'Update the dependencies and run the tests.',
        'Explain why the build is slow.',
        demoMessages.fixRounding,
      ],
    },
  },
  {
    body: {
      name: 'demo-digest',
      label: 'Daily digest (demo)',
      custom_instructions: 'Write short digests with numbers first.',
    },
    columns: {},
    messages: [demoMessages.digest],
    model: 'claude-haiku-5-5',
    history: { runsPerDay: 1, messages: [demoMessages.digest] },
    schedule: {
      name: 'Morning digest',
      description: 'Runs every day at 07:00 UTC.',
      cron_expression: `0 ${digestHour} * * *`,
      message: demoMessages.digest,
    },
    canvas: (now) => ({
      title: 'Shop at a glance',
      template: 'dashboard',
      blocks: [
        {
          kind: 'kpi',
          slot: 'kpis',
          payload: {
            tiles: [
              { label: 'Orders today', value: 42 },
              { label: 'Open tickets', value: 4 },
              { label: 'Uptime', value: 99.98, unit: '%' },
            ],
          },
        },
        {
          kind: 'chart',
          slot: 'main',
          title: 'Orders per day',
          payload: {
            type: 'line',
            series: [
              {
                label: 'Orders',
                points: [31, 35, 33, 40, 38, 39, 42].map((value, index) => ({
                  ts: dayOf(now, 6 - index)
                    .toISOString()
                    .slice(0, 10),
                  value,
                })),
              },
            ],
          },
        },
        {
          kind: 'markdown',
          slot: 'side',
          title: 'Digest',
          payload: { markdown: '- 42 orders, 3 more than yesterday\n- Login is the topic of most tickets' },
        },
      ],
    }),
  },
]
