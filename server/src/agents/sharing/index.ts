/**
 * Sharing: with which people an agent is shared.
 *
 * Promises that an address is shared with once, that it may sign in from then on, and that with a share goes
 * everything that hung on it: lists and sockets at once, open streams, and the edges by which the person's own
 * agents could call this one. Refuses to know what somebody it is shared with may do: that stands on the endpoints.
 */
export { sharingRoutes } from './routes.ts'
export { createSharing, type Sharing, type SharingDeps } from './service.ts'
export { sharesOf } from './view.ts'
