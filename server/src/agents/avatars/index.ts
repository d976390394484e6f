/**
 * Avatars: the picture of an agent, uploaded or drawn from its id.
 *
 * Only files that are images by their bytes are served, and they can never execute script.
 */
export { avatarRoutes, imageHeaders } from './routes.ts'
export { type Avatars, createAvatars } from './service.ts'
