/**
 * Public chat: links under which people without an account talk with an agent.
 *
 * Owns the links, their visitors and which runs they have started; conversations and messages lie in the tables
 * of chat. Promises that a link which does not let people in answers like one that never was, that two visitors
 * have nothing of each other, that a visitor is told what the agent says and the names of its tools and nothing
 * else of it, and that no token can be read from the database. Refuses to know how a run reaches the agent.
 */

export { publicRoutes } from './routes.ts'
export { createPublicChat, type PublicChat, type PublicChatDeps } from './service.ts'
