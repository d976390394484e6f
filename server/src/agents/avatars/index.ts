/**
 * Avatars: the picture of an agent, one that was set or one that is drawn from its id.
 *
 * Promises that what is served as a picture is one by its bytes and can run nothing.
 */
export { avatarRoutes } from './routes.ts'
export { type Avatars, createAvatars } from './service.ts'
