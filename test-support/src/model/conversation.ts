/** One message in the common form of all providers. */
export type Message = {
  role: 'user' | 'assistant'
  /** Text blocks joined by newlines, without additions of the CLI; empty when none remain. */
  text: string
  images: number
  toolResults: ToolResult[]
}

export type ToolResult = { callId: string; text: string }

/** A model request in the common form of all providers. */
export type ModelRequest = {
  model: string
  system: string
  messages: Message[]
  tools: OfferedTool[]
  /** The stream format, or null for a single response. */
  streamForm: 'sse' | 'json_array' | null
  /** True for a request of the CLI itself (title, summary, routing), which is never scripted. */
  isSide: boolean
  /** JSON schema of the answer, or null for free text. */
  answerSchema: Record<string, unknown> | null
}

export type OfferedTool = {
  name: string
  description: string
  /** `function` takes JSON, `custom` takes free text (OpenAI only). */
  form: 'function' | 'custom'
  /** The namespace of the tool, or null (OpenAI only). */
  namespace: string | null
}

/** The user's newest message and the conversation around it. */
export type Turn = {
  text: string
  images: number
  /** Texts of all messages before this turn. */
  earlier: string[]
  /** Results of this turn's tool calls, oldest first. */
  toolResults: ToolResult[]
}

/**
 * Finds the current turn from the end. Skips assistant messages and messages that contain only tool results
 * or reminders. The first other user message is the turn's.
 */
export function currentTurn(messages: readonly Message[]): Turn {
  const at = messages.findLastIndex(
    (message) => message.role === 'user' && (message.text !== '' || message.images > 0),
  )
  const message = messages[at]
  const since = messages.slice(at + 1)
  return {
    text: message?.text ?? '',
    images: message?.images ?? 0,
    earlier: messages.slice(0, Math.max(at, 0)).flatMap(textsOf),
    toolResults: latestByCall(since.flatMap((message) => message.toolResults)),
  }
}

function textsOf(message: Message): string[] {
  return [message.text, ...message.toolResults.map((result) => result.text)].filter((text) => text !== '')
}

/** A call may report several results (a script that notifies, then ends); the last one counts. */
function latestByCall(results: ToolResult[]): ToolResult[] {
  return [...new Map(results.map((result) => [result.callId, result])).values()]
}
