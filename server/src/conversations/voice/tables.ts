/** Agents without a row, and columns that are null, have the defaults. */
export type AgentVoicesTable = {
  agent_id: string
  prompt: string | null
  voice_name: string | null
  updated_at: string
}

export type VoiceCallsTable = {
  id: string
  agent_id: string
  /** The conversation. */
  session_id: string
  /** As in `chat_sessions`. */
  holder_id: string
  voice_name: string
  created_at: string
  /** Null until the person's socket is open. */
  connected_at: string | null
  /** By then it is over, whatever has become of the process that carries it. */
  ends_at: string
  ended_at: string | null
  /** One of `voiceEndReasons`. */
  end_reason: string | null
}

/** Runs whose answer was not said aloud yet. */
export type VoiceAsksTable = {
  execution_id: string
  call_id: string
  /** 1: the run has ended. */
  is_answered: number
}

export type VoiceTables = {
  agent_voices: AgentVoicesTable
  voice_calls: VoiceCallsTable
  voice_asks: VoiceAsksTable
}
