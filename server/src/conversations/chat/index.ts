/**
 * Chat: conversations of people, and of agents, with an agent.
 * Owns the tables `chat_…`. A conversation is visible only to its person, to admins (audited), and read-only to the
 * accounts it is shared with. A question is stored with its run, the answer with that run's end; a failed turn marks its question.
 * `dispatch` delivers the runs, `RunHooks` reports their end.
 */

export { createAcceptSerialTurn, type SerialTurnDeps } from './accept-serial-turn.ts'
export {
  type AccessRevocationPort,
  createLongReplies,
  type LongReplies,
  type LongReply,
} from './long-replies.ts'
export { pictureAnswer } from './pictures.ts'
export { visitorRetention, visitorRetentionKey } from './retention.ts'
export { chatRoutes } from './routes.ts'
export { outcomeMessage, storedFiles, strangerPrompt, titleOf } from './rules.ts'
export { type Chat, type ChatDeps, createChat } from './service.ts'
export { chatShareRoutes } from './share-routes.ts'
export { type ChatSharesDeps, createChatShares } from './shares.ts'
export { blankSession, chatStore, type MessageRow, type SessionRow } from './store.ts'
export { asEvents, asLines, type Item, replayedItems, turnItems } from './stream.ts'
export type { ChatTables } from './tables.ts'
export { resultMessage } from './task-results.ts'
export { emptyFigures, questionOf, type Turn } from './turn.ts'
export { figuresOf, readyEvent } from './turn-hooks.ts'
export { requireNoTurn } from './turn-in-progress.ts'
