export type WorkspaceSessionsTable = {
  token_hash: string
  /** Verified; lower-cased. */
  email: string
  created_at: string
  last_used_at: string
  /** Latest end; idle sessions end earlier. */
  expires_at: string
}

/** A person's state of a conversation; without a row it is neither starred nor read. */
export type ChatStatesTable = { session_id: string; starred: number; read_position: number }

export type RatingCommentsTable = { message_id: string; comment: string | null; rated_at: string }

export type DeliveriesTable = {
  /** The fire, by its first attempt. It gets at most one message. */
  key: string
  agent_id: string
  /** The address whose Main gets it; null when a conversation is named. */
  email: string | null
  session_id: string | null
  /** The run with this output. */
  execution_id: string
  source: 'schedule' | 'reminder'
  content: string
  status: 'pending' | 'delivered' | 'failed'
  error: string | null
  message_id: string | null
  created_at: string
  /** Latest time of delivery while pending. */
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

/** The one column of another feature's table that deliveries write. */
type DeliveryOfRun = { id: string; delivery: string | null }

export type WorkspaceTables = {
  workspace_sessions: WorkspaceSessionsTable
  workspace_chat_states: ChatStatesTable
  workspace_rating_comments: RatingCommentsTable
  workspace_deliveries: DeliveriesTable
  workspace_blocks: BlocksTable
  workspace_documents: DocumentsTable
  executions: DeliveryOfRun
}
