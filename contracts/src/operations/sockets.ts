import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'

export const socketTicketSeconds = 30

/** Close codes of the platform, in addition to those of the protocol. */
export const socketCloseCodes = {
  /** Invalid, used or expired ticket; invalid key; unknown or suspended account; the credential has ended. */
  unauthorized: 4001,
  /** A key whose scope may not open sockets, or the key of an ephemeral agent. */
  forbidden: 4003,
  /** The platform is stopping: reconnect. */
  stopping: 1001,
  /** The platform failed to send or to check the credential: reconnect. */
  failed: 1011,
} as const

export const resyncReasons = [
  'invalid_last_event_id',
  'gap_too_large',
  'trimmed',
  'slow_consumer',
  'replay_error',
] as const
export type ResyncReason = (typeof resyncReasons)[number]

/** Opaque and increasing. Clients store the last one and send it as `last_event_id`. */
export const EventId = z.string()
/** Names of the agents whose events the socket delivers; `["*"]` for admins. */
const accessible_agents = z.array(z.string())

export const ConnectedMessage = z.object({
  type: z.literal('connected'),
  /** The position at which the events of this socket start. */
  _eid: EventId,
  ts: Timestamp,
  user: z.string().describe('User name of the person or of the key owner.'),
  scope: z.string().describe('`session`, or the scope of the key.'),
  accessible_agents,
})
export const RefreshedMessage = z.object({ type: z.literal('refreshed'), accessible_agents })
export const ResyncMessage = z.object({ type: z.literal('resync_required'), reason: z.enum(resyncReasons) })
export const PongMessage = z.object({ type: z.literal('pong') })

/** Messages from clients; the plain words `ping` and `refresh` are valid too. */
export const ClientMessage = z.object({ type: z.enum(['ping', 'refresh']) })

/** The envelope of every event, next to the event's own fields. */
export const SocketEvent = z.looseObject({
  type: z.string(),
  _eid: EventId,
  ts: Timestamp,
  agent_name: z.string().optional(),
})
export type SocketEvent = z.output<typeof SocketEvent>

/** Every event type that sockets deliver; other events are internal. */
export const socketEventTypes = [
  'agent_created',
  'agent_started',
  'agent_stopped',
  'agent_exited',
  'agent_deleted',
  'agent_renamed',
  'agent_shared',
  'agent_unshared',
  'agent_label_changed',
  'agent_tags_changed',
  'agent_settings_changed',
  'skills_changed',
  'agent_health_changed',
  'agent_activity',
  'agent_collaboration',
  'agent_event',
  'agent_notification',
  'agent_report',
  'execution_created',
  'execution_started',
  'execution_finished',
  'schedule_created',
  'schedule_updated',
  'schedule_deleted',
  'schedule_execution_started',
  'schedule_execution_completed',
  'schedule_execution_skipped',
  'loop_run_completed',
  'loop_completed',
  'fan_out_completed',
  'attempts_changed',
  'chat_response_ready',
  'reminder_fired',
  'canvas_updated',
  'canvas_deleted',
  'public_link_created',
  'public_link_updated',
  'public_link_deleted',
  'skills_library_synced',
  'git_sync_changed',
  'operator_queue_new',
  'operator_queue_responded',
  'operator_queue_acknowledged',
  'operator_queue_cancelled',
  'operator_queue_expired',
  'operator_queue_cleared',
  'notifications_cleared',
  'fleet_restart_progress',
] as const

export const createSocketTicket = endpoint({
  id: 'createSocketTicket',
  method: 'POST',
  path: '/api/ws/ticket',
  summary: 'Create a ticket for one live socket',
  description: `The ticket is good for one \`GET /ws?ticket=…\`, or one \`GET /api/agents/{name}/terminal?ticket=…\` (for the owner and admins with a platform session; binary messages in both directions, \`{"type": "resize", "cols", "rows"}\` as text), within ${socketTicketSeconds} seconds. Programs with a \`user\`, \`agent\` or \`system\` key open \`/ws/events?token=…\` instead, without a ticket.

Both sockets carry JSON text messages. The first is \`connected\`: \`{type, _eid, ts, user, scope, accessible_agents[]}\`. Then events follow as flat objects \`{type, _eid, ts, agent_name?, …}\`, events about agents only while every named agent is accessible: ${socketEventTypes.map((type) => `\`${type}\``).join(', ')}.

Keep the last \`_eid\` and reconnect with \`last_event_id=…\`: missed events come first, without gaps or duplicates. If that is not possible, \`{type: "resync_required", reason}\` has the reason (${resyncReasons.map((reason) => `\`${reason}\``).join(', ')}): fetch the current state over the API.

\`{"type":"ping"}\` or the text \`ping\` gets a reply in the same form; \`refresh\` gets \`{type: "refreshed", accessible_agents[]}\`. Close code 4001: invalid, used or expired ticket, invalid key, unknown or suspended account. 4003: a key that may not open sockets.`,
  tag: 'Events',
  // A ticket grants the person's view, so a key with fewer rights must not get one.
  access: { who: 'any', gate: 'person' },
  returns: z.object({ ticket: z.string(), expires_in: z.number().int() }),
  fails: ['person_required', 'rate_limited', 'ephemeral_unavailable'],
  audit: { type: 'authentication', action: 'create_socket_ticket' },
})
