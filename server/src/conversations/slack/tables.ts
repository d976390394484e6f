import type { SealedText } from '../../foundation/vault/index.ts'

export type SlackConnectionsTable = {
  /** Always `slack`. */
  id: string
  team_id: string
  workspace_name: string
  bot_user_id: string
  bot_user: string
  sealed_signing_secret: SealedText
  sealed_bot_token: SealedText
  updated_at: string
}

export type SlackChannelsTable = {
  agent_id: string
  channel_id: string
  channel_name: string | null
  /** 1 for the one agent that answers direct messages, else null. */
  dm_default: number | null
  updated_at: string
}

/** The conversation of a thread. */
export type SlackThreadsTable = {
  session_id: string
  agent_id: string
  channel_id: string
  thread_ts: string
}

/** Messages that were handled, so that each is handled once. */
export type SlackEventsTable = {
  event_id: string
  channel_id: string
  message_ts: string
  received_at: string
}

/** Posts to send, and recently sent ones. */
export type SlackPostsTable = {
  id: string
  agent_id: string
  channel_id: string
  thread_ts: string
  /** Null for a notice without a run. */
  execution_id: string | null
  /** Zero-based position among the pieces of one answer. */
  part: number
  /** Markdown; converted to Slack's markup when it is sent. */
  text: string
  /**
   * `waiting`: not sent. `sending`: sent, or being sent; the outcome is unknown until `due_at`. `sent`, `failed`:
   * final.
   */
  state: 'waiting' | 'sending' | 'sent' | 'failed'
  attempts: number
  created_at: string
  /** The time of the next attempt. */
  due_at: string
}

export type SlackTables = {
  slack_connections: SlackConnectionsTable
  slack_channels: SlackChannelsTable
  slack_threads: SlackThreadsTable
  slack_events: SlackEventsTable
  slack_posts: SlackPostsTable
}
