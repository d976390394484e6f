/**
 * Public chat: people without an account talk with an agent through links.
 * Owns the links, their visitors and the runs they started; conversations and messages are in chat's tables. A closed
 * link responds like one that never existed. Visitors cannot see each other. Of the agent, a visitor sees only its text
 * and the names of its tools. The database stores no readable token.
 */

export { sealedColumns } from './links.ts'
export { publicRoutes } from './routes.ts'
export { createPublicChat, type PublicChat, type PublicChatDeps } from './service.ts'
