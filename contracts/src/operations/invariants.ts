import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'

/** Rules that always hold for the records of runs, regardless of crashes and races. */
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
      .describe('Number of records checked. Without it, a check that read nothing would look clean.'),
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
  summary: 'Check that the records of runs are consistent',
  description:
    'Checks all open records and the newest records and events. A violation is checked again seconds later, so that changes in progress are not reported.',
  tag: 'Operations',
  access: { who: 'admin' },
  returns: InvariantsReport,
})

/** For the command line on this machine, which has no credential. */
export const getInternalInvariants = endpoint({
  id: 'getInternalInvariants',
  method: 'GET',
  path: '/api/internal/invariants',
  summary: 'Check that the records of runs are consistent',
  tag: 'Internal',
  access: { who: 'internal' },
  returns: InvariantsReport,
})
