export type WorkspaceSessionsTable = {
  token_hash: string
  /** Verified; lower-cased. */
  email: string
  created_at: string
  last_used_at: string
  /** At the latest; idle sessions end before. */
  expires_at: string
}

/** What a person does with a conversation; without a row it is neither starred nor read. */
export type ChatStatesTable = { session_id: string; starred: number; read_position: number }

export type RatingCommentsTable = { message_id: string; comment: string | null; rated_at: string }

export type DeliveriesTable = {
  /** The fire: its first attempt. One message at most comes of it. */
  key: string
  agent_id: string
  /** Whose Main; null: the conversation that is named. */
  email: string | null
  session_id: string | null
  /** The run whose output it is. */
  execution_id: string
  source: 'schedule' | 'reminder'
  content: string
  status: 'pending' | 'delivered' | 'failed'
  error: string | null
  message_id: string | null
  created_at: string
  /** Pending: delivered then at the latest. */
  due_at: string | null
}

export type BlocksTable = { agent_id: string; email: string; blocked_by: string; blocked_at: string }

export type DocumentsTable = {
  id: string
  agent_id: string
  holder_id: string
  filename: string
  size_bytes: number
  path: string
  created_at: string
}

/** What a delivery leaves with its run: the column that is for it, of rows that are another feature's. */
type DeliveredRuns = { id: string; delivery: string | null }

export type WorkspaceTables = {
  workspace_sessions: WorkspaceSessionsTable
  workspace_chat_states: ChatStatesTable
  workspace_rating_comments: RatingCommentsTable
  workspace_deliveries: DeliveriesTable
  workspace_blocks: BlocksTable
  workspace_documents: DocumentsTable
  executions: DeliveredRuns
}
