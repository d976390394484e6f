import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'

/** What always holds of the records of runs, whatever was killed and whoever raced whom. */
export const invariantRules = [
  'slots_equal_running_rows',
  'no_queued_beside_free_slot',
  'no_running_without_lease',
  'no_event_without_row',
  'terminal_rows_unchanged',
  'fan_outs_follow_their_runs',
] as const
export type InvariantRule = (typeof invariantRules)[number]

const count = z.number().int()

export const InvariantsReport = z
  .object({
    checked_at: Timestamp,
    ok: z.boolean(),
    read: z
      .object({
        executions: count,
        queued: count,
        running: count,
        terminal: count,
        events: count,
        schedules: count,
      })
      .describe('What was looked at, so that an empty answer is not mistaken for a clean one.'),
    violations: z.array(
      z.object({
        rule: z.enum(invariantRules),
        subject: z.string().describe('The id of an execution or a fan-out, or the name of an agent.'),
        message: z.string(),
      }),
    ),
  })
  .meta({ id: 'InvariantsReport' })
export type InvariantsReport = z.output<typeof InvariantsReport>

export const getInvariants = endpoint({
  id: 'getInvariants',
  method: 'GET',
  path: '/api/ops/invariants',
  summary: 'Whether the records of runs hold together',
  description:
    'Looks at everything that is open and at the newest records and events. What it finds is looked at again seconds later, so that what is in motion is not reported.',
  tag: 'Operations',
  access: { who: 'admin' },
  returns: InvariantsReport,
})

/** The same for the command line of this machine, which has no credential. */
export const getInternalInvariants = endpoint({
  id: 'getInternalInvariants',
  method: 'GET',
  path: '/api/internal/invariants',
  summary: 'Whether the records of runs hold together',
  tag: 'Internal',
  access: { who: 'internal' },
  returns: InvariantsReport,
})
