export type ExecutionLinesTable = {
  execution_id: string
  /** Starts at 1, without gaps. */
  n: number
  /** The line as JSON, with `_n` and `_ts`. */
  line: string
}

export type ExecutionToolsTable = {
  execution_id: string
  tool_use_id: string
  agent_id: string
  /** Number of the line that called the tool. */
  n: number
  tool: string
  input_summary: string
  output_summary: string | null
  success: number | null
  started_at: string
  ended_at: string | null
  duration_ms: number | null
}

export type TranscriptTables = {
  execution_lines: ExecutionLinesTable
  execution_tools: ExecutionToolsTable
}
