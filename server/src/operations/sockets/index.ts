/**
 * Live sockets: what happens, sent to everybody who may see it, from where each left off.
 *
 * Owns no table. Promises that an event about an agent reaches nobody who cannot reach that agent at the
 * moment of delivery, that a client which comes back with its last event id misses and repeats nothing or is
 * told to fetch everything anew, and that a slow client costs bounded memory and nobody else's time. A
 * socket lives no longer than the credential it was opened with. Refuses to know what the events mean.
 */
export { createCallerOf } from './credential.ts'
export { socketTicketRoutes } from './routes.ts'
export { createSockets, type Sockets } from './service.ts'
export { liveSocketRoutes } from './socket-routes.ts'
export { createTickets } from './tickets.ts'
