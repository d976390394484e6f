/**
 * Live sockets: sends events to everyone who may see them, continuing where each client left off.
 *
 * Owns no table. Promises that an event about an agent is sent only to viewers with access at that moment. A
 * reconnecting client misses and repeats nothing, or must fetch everything again. A slow client uses limited memory and
 * delays no other. A socket ends with its credential. Does not interpret events.
 */
export { createCallerOf } from './credential.ts'
export { socketTicketRoutes } from './routes.ts'
export { createSockets, type Sockets } from './service.ts'
export { liveSocketRoutes } from './socket-routes.ts'
export { createTickets } from './tickets.ts'
