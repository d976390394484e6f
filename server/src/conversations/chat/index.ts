/**
 * Chat: conversations of people, and of agents, with an agent.
 *
 * Owns the tables `chat_sessions` and `chat_messages`. Promises that a conversation is seen by its person
 * alone (and by admins, audited), that a question is stored with the run that answers it and the answer with
 * that run's end, and that a turn which failed leaves its mark on the question. Refuses to know how a run
 * reaches the agent: it asks `dispatch` for runs and hears of them through `RunHooks`.
 */

export {
  type AccessRevocationPort,
  createLastingReplies,
  type Lasting,
  type LastingReplies,
} from './lasting.ts'
export { createTakeOneTurn, type OneTurnDeps } from './one-turn.ts'
export { outcomeWords } from './outcome-words.ts'
export { strangersKey, strangersRetention } from './retention.ts'
export { chatRoutes } from './routes.ts'
export { titleOf } from './rules.ts'
export { type Chat, type ChatDeps, createChat } from './service.ts'
export { blankSession, chatStore, type MessageRow, type SessionRow } from './store.ts'
export { strangerPrompt } from './stranger-prompt.ts'
export { asEvents, asLines, type Item, replayedItems, turnItems } from './stream.ts'
export type { ChatTables } from './tables.ts'
export { resultMessage } from './task-results.ts'
export { noFigures, questionOf, type Turn } from './turn.ts'
export { figuresOf, readyEvent } from './turn-hooks.ts'
export { refuseWhileTurn } from './turn-in-progress.ts'
