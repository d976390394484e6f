import { createHash } from 'node:crypto'
import { voiceTicketSeconds } from '@roost/contracts/conversations/voice'
import { Fault } from '../../kit/fault.ts'
import { newSecretText } from '../../kit/ids.ts'
import { type Ephemeral, EphemeralDown } from '../../ports/ephemeral/port.ts'
import type { TicketIdentity } from './identity.ts'

/** The call that a ticket opens, and its caller. */
export type CallTicket = { call: string; holder: string; identity: TicketIdentity }

/** Single-use tickets for the socket of one call, stored as hashes in short-lived storage. */
export function createCallTickets({ ephemeral }: { ephemeral: Pick<Ephemeral, 'put' | 'take'> }) {
  return {
    /** Throws `ephemeral_unavailable`. */
    async mint(content: CallTicket): Promise<string> {
      const ticket = newSecretText()
      await orUnavailable(() => ephemeral.put(keyOf(ticket), JSON.stringify(content), voiceTicketSeconds))
      return ticket
    },
    /** Returns the ticket's content once; null when it is unknown, used or expired. Throws `ephemeral_unavailable`. */
    async redeem(ticket: string): Promise<CallTicket | null> {
      if (!/^[\w-]{43}$/.test(ticket)) return null
      const found = await orUnavailable(() => ephemeral.take(keyOf(ticket)))
      // Written only by `mint`, so the shape is known.
      return found === null ? null : (JSON.parse(found) as CallTicket)
    },
  }
}

export type CallTickets = ReturnType<typeof createCallTickets>

/** Fails closed: a ticket that cannot be checked opens nothing. */
async function orUnavailable<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (cause) {
    if (!(cause instanceof EphemeralDown)) throw cause
    throw new Fault('ephemeral_unavailable', undefined, {}, { cause })
  }
}

function keyOf(ticket: string): string {
  return `voice-ticket:${createHash('sha256').update(ticket).digest('base64url')}`
}
