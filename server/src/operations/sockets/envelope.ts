import { wireName } from '@roost/contracts/kit/event'
import { type ResyncReason, socketEventTypes } from '@roost/contracts/operations/sockets'
import type { StoredEvent } from '../../foundation/outbox/index.ts'
import { eventId } from './rules.ts'
import type { Shown } from './visibility.ts'

/** An event with its bytes, which are the same for everybody who sees as much of it. */
export type Rendered = {
  event: StoredEvent
  /** What is sent to a viewer who is shown that much; null when nothing is. */
  bytes(shown: Shown): Buffer | null
}

const carried: ReadonlySet<string> = new Set(socketEventTypes)

/** Whether sockets carry events of this type; the others are for the platform's own features. */
export function isCarried(event: StoredEvent): boolean {
  return carried.has(wireName(event.type))
}

export function render(event: StoredEvent): Rendered {
  let whole: Buffer | null = null
  let reduced: Buffer | null = null
  return {
    event,
    bytes(shown) {
      if (shown === null) return null
      if (shown === 'whole' || !event.reserved) {
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
  // The head first and last: it reads well, and no field takes its place.
  return { ...head, ...about, ...fields, ...head }
}

/** A message of the socket itself, which is no event. */
export function encode(message: object): Buffer {
  return Buffer.from(JSON.stringify(message))
}

export function resyncMessage(reason: ResyncReason): Buffer {
  return encode({ type: 'resync_required', reason })
}
