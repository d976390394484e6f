/**
 * Slack: people talk with agents in channels and direct messages.
 *
 * Owns the tables whose names begin with `slack_`. Promises that a message starts one run at most, however often
 * Slack sends it, that a thread is one conversation, and that each run is answered in its thread, once as far as
 * that can be known. Refuses to know how Slack is spoken to: that is `ports/chat-platform`.
 */
export { slackRoutes } from './routes.ts'
export { createSlackConversations, type Slack, type SlackDeps } from './service.ts'
