import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Id, queryInteger, Timestamp } from '../kit/primitives.ts'
import { alertKinds, itemPriorities, itemStatuses } from './operator-queue.ts'

const tag = 'Operations'

/** An alert of the platform; each one is an item of the operator queue. */
export const FleetAlert = z
  .object({
    id: Id.describe('Id of the item in the operator queue.'),
    severity: z.enum(itemPriorities),
    type: z.enum(alertKinds),
    agent_name: z.string().nullable().describe('Null: not about a single agent.'),
    title: z.string(),
    message: z.string().describe('What to do.'),
    status: z.enum(itemStatuses).describe('`cancelled`: the cause no longer exists.'),
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
  summary: 'List the alerts of the platform, newest first',
  tag,
  access: { who: 'admin', scopes: ['ops'] },
  query: AlertQuery,
  returns: z.object({ timestamp: Timestamp, alerts: z.array(FleetAlert), count: z.number().int() }),
})

export const acknowledgeAlert = endpoint({
  id: 'acknowledgeAlert',
  method: 'POST',
  path: '/api/ops/alerts/{id}/acknowledge',
  summary: 'Acknowledge an alert',
  description:
    'For admins, owners of the agent, and operators with access to it. The alert is raised again if its cause recurs; monitoring alerts not before the cooldown has passed.',
  tag,
  access: { who: 'any', gate: 'person' },
  params: z.object({ id: z.string() }),
  returns: FleetAlert,
  fails: ['not_found', 'item_not_pending', 'role_required'],
  audit: { type: 'operator_queue', action: 'acknowledge_alert' },
})
