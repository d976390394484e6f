import { createHash } from 'node:crypto'
import { voiceTicketSeconds } from '@roost/contracts/conversations/voice'
import { Fault } from '../../kit/fault.ts'
import { newSecretText } from '../../kit/ids.ts'
import { type Ephemeral, EphemeralDown } from '../../ports/ephemeral/port.ts'
import type { Kept } from './identity.ts'

/** Which call a ticket opens, and for whom. */
export type CallTicket = { call: string; holder: string; kept: Kept }

/** Tickets that open the socket of one call, once. Kept as a hash in the store for short-lived data. */
export function createCallTickets({ ephemeral }: { ephemeral: Pick<Ephemeral, 'put' | 'take'> }) {
  return {
    /** Throws `ephemeral_unavailable`. */
    async mint(of: CallTicket): Promise<string> {
      const ticket = newSecretText()
      await orUnavailable(() => ephemeral.put(keyOf(ticket), JSON.stringify(of), voiceTicketSeconds))
      return ticket
    },
    /** What it was minted with, once; null when it is none, used or too old. Throws `ephemeral_unavailable`. */
    async redeem(ticket: string): Promise<CallTicket | null> {
      if (!/^[\w-]{43}$/.test(ticket)) return null
      const found = await orUnavailable(() => ephemeral.take(keyOf(ticket)))
      // Written by `mint` and by nobody else.
      return found === null ? null : (JSON.parse(found) as CallTicket)
    },
  }
}

export type CallTickets = ReturnType<typeof createCallTickets>

/** Fails closed: a ticket that cannot be checked opens nothing. */
async function orUnavailable<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    if (!(cause instanceof EphemeralDown)) throw cause
    throw new Fault('ephemeral_unavailable', undefined, {}, { cause })
  }
}

function keyOf(ticket: string): string {
  return `voice-ticket:${createHash('sha256').update(ticket).digest('base64url')}`
}
