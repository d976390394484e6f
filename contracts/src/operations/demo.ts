import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'

const tag = 'Operations'
const path = '/api/demo'

/** The agents that the demo creates. */
export const demoAgentNames = ['demo-support', 'demo-developer', 'demo-digest'] as const

export const demoStates = ['off', 'waiting', 'ready', 'removed'] as const

export const DemoStatus = z
  .object({
    state: z
      .enum(demoStates)
      .describe(
        '`off`: this process was started without `ROOST_DEMO`. `waiting`: the demo data is not complete yet. `removed`: it was removed and is not created again.',
      ),
    agents: z.array(z.string()).describe('Names of the demo agents that exist, also in the state `off`.'),
    seeded_at: Timestamp.nullable().describe('When the first demo agent was created.'),
  })
  .meta({ id: 'DemoStatus' })
export type DemoStatus = z.output<typeof DemoStatus>

export const getDemo = endpoint({
  id: 'getDemo',
  method: 'GET',
  path,
  summary: 'Status of the demo data',
  tag,
  access: { who: 'admin' },
  returns: DemoStatus,
})

export const removeDemo = endpoint({
  id: 'removeDemo',
  method: 'DELETE',
  path,
  summary: 'Remove the demo agents with everything they have',
  description:
    'Deletes their workspaces, schedules, canvases, questions, runs and costs. Later starts do not create them again. Succeeds if there is nothing to remove.',
  tag,
  access: { who: 'admin', gate: 'human' },
  returns: z.object({ removed_agents: z.array(z.string()) }),
  fails: ['agent_busy', 'container_engine_error'],
  audit: { type: 'system', action: 'remove_demo_data' },
})

/**
 * What the demo agents are asked. The scripted model server knows an answer to each, for the first runs and for every
 * later one with the same message.
 */
export const demoMessages = {
  summarizeTickets: 'Summarize the open tickets in report.md.',
  askRefund: 'Customer 4711 asks for a refund of 340 EUR. Ask a person before you decide.',
  fixRounding: 'Fix the rounding error in shop/price.js and show me the diff.',
  deploy: 'Deploy the fix to production.',
  digest: 'Write the digest of the day.',
} as const
