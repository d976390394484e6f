import { wireName } from '@roost/contracts/kit/event'
import { type ResyncReason, socketEventTypes } from '@roost/contracts/operations/sockets'
import type { StoredEvent } from '../../foundation/outbox/index.ts'
import { eventId } from './rules.ts'
import type { EventView } from './visibility.ts'

/** An event with its bytes, encoded once for all viewers with the same view. */
export type Rendered = {
  event: StoredEvent
  /** The message for a view; null when it shows nothing. */
  bytes(view: EventView): Buffer | null
}

const socketTypes: ReadonlySet<string> = new Set(socketEventTypes)

/** True for events that sockets send. Others are internal to the platform. */
export function isSocketEvent(event: StoredEvent): boolean {
  return socketTypes.has(wireName(event.type))
}

export function render(event: StoredEvent): Rendered {
  let whole: Buffer | null = null
  let reduced: Buffer | null = null
  return {
    event,
    bytes(view) {
      if (view === null) return null
      if (view === 'whole' || !event.reserved) {
        whole ??= encode({ ...envelope(event), ...event.reserved?.fields })
        return whole
      }
      reduced ??= encode(envelope(event))
      return reduced
    },
  }
}

function envelope({ type, position, ts, agent_names, fields }: StoredEvent): Record<string, unknown> {
  const [name] = agent_names
  const about = agent_names.length === 1 && name !== undefined ? { agent_name: name } : {}
  const head = { type: wireName(type), _eid: eventId(position), ts }
  // First for readability, and last so that no field overrides it.
  return { ...head, ...about, ...fields, ...head }
}

/** Encodes a message of the socket itself, which is not an event. */
export function encode(message: object): Buffer {
  return Buffer.from(JSON.stringify(message))
}

export function resyncMessage(reason: ResyncReason): Buffer {
  return encode({ type: 'resync_required', reason })
}
