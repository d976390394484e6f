/**
 * Sharing: the people an agent is shared with.
 *
 * An address is listed once and may sign in from then on. Removing a share also removes the agent from the
 * person's lists and sockets, closes open streams, and deletes the edges from the person's own agents. What a
 * shared agent permits is defined by the endpoints.
 */
export { sharingRoutes } from './routes.ts'
export { createSharing, type Sharing, type SharingDeps } from './service.ts'
export { sharesOf } from './view.ts'
