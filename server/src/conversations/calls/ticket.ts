import { createHash } from 'node:crypto'

/** A single-use ticket for the media stream of one call. Only its hash is stored. */
export function newTicket(bytes: (count: number) => Buffer): { ticket: string; hash: string } {
  const ticket = bytes(32).toString('base64url')
  return { ticket, hash: hashOf(ticket) }
}

export function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex')
}
