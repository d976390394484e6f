import { createHash } from 'node:crypto'
import { socketTicketSeconds } from '@roost/contracts/operations/sockets'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { Fault } from '../../kit/fault.ts'
import { newSecretText } from '../../kit/ids.ts'
import { type Ephemeral, EphemeralDown } from '../../ports/ephemeral/port.ts'
import { type Credential, credentialOf } from './credential.ts'

export type Tickets = {
  /** Throws `rate_limited`, and `ephemeral_unavailable` when the store is down. */
  mint(caller: SignedIn): Promise<string>
  /** Returns the ticket's credential once; null for an invalid, used or expired one. Throws `ephemeral_unavailable`. */
  redeem(ticket: string): Promise<Credential | null>
}

/**
 * Short-lived tickets that replace a credential in a URL. The shared store contains their hashes, so each is valid once
 * over all processes.
 */
export function createTickets(deps: {
  ephemeral: Pick<Ephemeral, 'put' | 'take'>
  limits: Pick<RateLimits, 'use'>
}): Tickets {
  const { ephemeral, limits } = deps
  return {
    async mint(caller) {
      const ticket = newSecretText()
      const value = JSON.stringify(credentialOf(caller))
      // Concurrent, so that a hanging store delays only once. A ticket above the limit is never returned.
      await Promise.all([
        limits.use(rateRules.socketTicket, caller.user.id),
        orUnavailable(() => ephemeral.put(keyOf(ticket), value, socketTicketSeconds)),
      ])
      return ticket
    },
    async redeem(ticket) {
      if (!/^[\w-]{43}$/.test(ticket)) return null
      const found = await orUnavailable(() => ephemeral.take(keyOf(ticket)))
      // Only `mint` writes it.
      return found === null ? null : (JSON.parse(found) as Credential)
    },
  }
}

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
  return `socket-ticket:${createHash('sha256').update(ticket).digest('base64url')}`
}
