import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Id, queryInteger, Timestamp } from '../kit/primitives.ts'
import { alertKinds, itemPriorities, itemStatuses } from './operator-queue.ts'

const tag = 'Operations'

/** An alert of the platform, as an item of the operator queue tells it. */
export const FleetAlert = z
  .object({
    id: Id.describe('Of the item in the operator queue.'),
    severity: z.enum(itemPriorities),
    type: z.enum(alertKinds),
    agent_name: z.string().nullable().describe('Null: about no single agent.'),
    title: z.string(),
    message: z.string().describe('What is to be done.'),
    status: z.enum(itemStatuses).describe('`cancelled`: its cause is gone.'),
    created_at: Timestamp,
    acknowledged_at: Timestamp.nullable(),
  })
  .meta({ id: 'FleetAlert' })
export type FleetAlert = z.output<typeof FleetAlert>

export const AlertQuery = z.object({
  severity: z.enum(itemPriorities).optional(),
  status: z.enum(itemStatuses).optional(),
  limit: queryInteger(1, 500, 100),
})
export type AlertQuery = z.output<typeof AlertQuery>

export const listAlerts = endpoint({
  id: 'listAlerts',
  method: 'GET',
  path: '/api/ops/alerts',
  summary: 'What the platform has told operators, the newest first',
  tag,
  access: { who: 'admin', scopes: ['ops'] },
  query: AlertQuery,
  returns: z.object({ timestamp: Timestamp, alerts: z.array(FleetAlert), count: z.number().int() }),
})

export const acknowledgeAlert = endpoint({
  id: 'acknowledgeAlert',
  method: 'POST',
  path: '/api/ops/alerts/{id}/acknowledge',
  summary: 'Take an alert off what is pending',
  description:
    'For admins, owners of the agent, and operators who reach it. It is told again when its cause is found anew, monitoring alerts after the cooldown at the earliest.',
  tag,
  access: { who: 'any', gate: 'person' },
  params: z.object({ id: z.string() }),
  returns: FleetAlert,
  fails: ['not_found', 'item_not_pending', 'role_required'],
  audit: { type: 'operator_queue', action: 'acknowledge_alert' },
})
