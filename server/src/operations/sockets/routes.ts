import { createSocketTicket, socketTicketSeconds } from '@roost/contracts/operations/sockets'
import { type Route, signedInRoute } from '../../http/route.ts'
import type { Tickets } from './tickets.ts'

export function socketTicketRoutes(tickets: Pick<Tickets, 'mint'>): Route[] {
  return [
    signedInRoute(createSocketTicket, async ({ caller }) => ({
      ticket: await tickets.mint(caller),
      expires_in: socketTicketSeconds,
    })),
  ]
}
