export type ChatSessionsTable = {
  id: string
  agent_id: string
  /** `user:<id>`, or the key of an agent or connector. */
  holder_id: string
  user_id: string
  user_email: string | null
  title: string | null
  kind: 'chat' | 'workspace' | 'public'
  status: 'active' | 'closed'
  /** Agent and holder while this is the holder's current session; unique. */
  current_key: string | null
  started_at: string
  last_message_at: string | null
  closed_at: string | null
  /** Also the position of the newest message. */
  message_count: number
  total_cost_micros: number
  /** 1 when part of the total is an estimate. */
  cost_estimated: number
  context_used: number
  context_max: number
  runtime_session_id: string | null
  /** Messages up to this position were cleared by a reset. */
  remembers_from: number
  pinned_at: string | null
  archived_at: string | null
}

export type ChatMessagesTable = {
  id: string
  session_id: string
  /** From 1 within the session, in the order of arrival. */
  position: number
  /** Position of the question that this answers, else its own. Messages are listed by turn, then position. */
  turn: number
  role: 'user' | 'assistant'
  content: string
  timestamp: string
  source: 'text' | 'voice' | 'schedule' | 'reminder'
  execution_id: string | null
  /** In a branch: the run of the original message, whose steps it shows. */
  copied_execution_id: string | null
  cost_micros: number | null
  cost_estimated: number
  context_used: number | null
  context_max: number | null
  /** JSON arrays. */
  tool_calls: string | null
  execution_time_ms: number | null
  output_tokens: number | null
  files: string | null
  error_code: string | null
  rating: 'up' | 'down' | null
  /** 1 when the runtime's own session does not contain it: results of tasks and spoken lines. */
  is_aside: number
  /** The call in which it was spoken. */
  voice_call_id: string | null
}

/** Tasks whose end becomes a message of a conversation; removed at that end. */
export type ChatTaskResultsTable = { execution_id: string; session_id: string }

/** The bytes of attached pictures. */
export type ChatPicturesTable = {
  id: string
  agent_id: string
  holder_id: string
  mimetype: string
  size: number
  created_at: string
  data_base64: string
}

/** The conversations that show a picture: the one it was sent in, and its branches. */
export type ChatSessionPicturesTable = { session_id: string; picture_id: string }

/** Accounts that may read a conversation of another person. */
export type ChatSharesTable = { id: string; session_id: string; user_id: string; created_at: string }

export type ChatTables = {
  chat_sessions: ChatSessionsTable
  chat_messages: ChatMessagesTable
  chat_task_results: ChatTaskResultsTable
  chat_pictures: ChatPicturesTable
  chat_session_pictures: ChatSessionPicturesTable
  chat_shares: ChatSharesTable
}
