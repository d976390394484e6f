import { createHash } from 'node:crypto'

/** With which the sound of one call is streamed once; what is kept of it does not open anything. */
export function newTicket(bytes: (count: number) => Buffer): { ticket: string; hash: string } {
  const ticket = bytes(32).toString('base64url')
  return { ticket, hash: hashOf(ticket) }
}

export function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex')
}
