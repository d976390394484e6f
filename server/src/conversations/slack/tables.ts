export type SlackConnectionsTable = {
  /** Always `slack`. */
  id: string
  team_id: string
  workspace_name: string
  bot_user_id: string
  bot_user: string
  sealed_signing_secret: string
  sealed_bot_token: string
  updated_at: string
}

export type SlackChannelsTable = {
  agent_id: string
  channel_id: string
  channel_name: string | null
  /** 1 of the one agent that answers direct messages, else null. */
  dm_default: number | null
  updated_at: string
}

/** Which conversation a thread is. */
export type SlackThreadsTable = {
  session_id: string
  agent_id: string
  channel_id: string
  thread_ts: string
}

/** Messages that were taken, so that each is taken once. */
export type SlackEventsTable = {
  event_id: string
  channel_id: string
  message_ts: string
  received_at: string
}

/** What is to be said in Slack, or was said not long ago. */
export type SlackPostsTable = {
  id: string
  agent_id: string
  channel_id: string
  thread_ts: string
  /** Null: a notice that belongs to no run. */
  execution_id: string | null
  /** From 0: its place among the pieces of one answer. */
  part: number
  /** Markdown; it becomes Slack's markup on the way. */
  text: string
  /**
   * `waiting`: Slack does not have it. `sending`: Slack was asked, or is asked now; whether it has it is not
   * known before `due_at`. `sent`, `failed`: done with.
   */
  state: 'waiting' | 'sending' | 'sent' | 'failed'
  attempts: number
  created_at: string
  /** Not tried before. */
  due_at: string
}

export type SlackTables = {
  slack_connections: SlackConnectionsTable
  slack_channels: SlackChannelsTable
  slack_threads: SlackThreadsTable
  slack_events: SlackEventsTable
  slack_posts: SlackPostsTable
}
