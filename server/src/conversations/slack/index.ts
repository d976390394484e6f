/**
 * Slack: people talk with agents in channels and direct messages.
 * Owns the tables whose names begin with `slack_`. A message starts at most one run, however often Slack sends it. A
 * thread is one conversation. Each run is answered in its thread, once as far as can be known. The Slack API itself is
 * behind `ports/chat-platform`.
 */

export { sealedColumns } from './connection.ts'
export { slackRoutes } from './routes.ts'
export { createSlackConversations, type Slack, type SlackDeps } from './service.ts'
