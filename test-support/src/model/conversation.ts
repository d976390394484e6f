/** One message of a conversation in the form all providers are read into. */
export type Message = {
  role: 'user' | 'assistant'
  /** Text blocks joined by newlines, without what a CLI adds of its own; empty when nothing else was there. */
  text: string
  images: number
  toolResults: ToolResult[]
}

export type ToolResult = { callId: string; text: string }

/** A model request, whichever provider's form it came in. */
export type ModelRequest = {
  model: string
  system: string
  messages: Message[]
  tools: OfferedTool[]
  /** How the answer is streamed; null when it is wanted in one piece. */
  streamForm: 'sse' | 'json_array' | null
  /** A request the CLI makes for itself (title, summary, routing): never scripted. */
  isSide: boolean
  /** JSON schema that the answer must fit, null when free text is wanted. */
  answerSchema: Record<string, unknown> | null
}

export type OfferedTool = {
  name: string
  description: string
  /** `function` takes JSON, `custom` takes free text (OpenAI only). */
  form: 'function' | 'custom'
  /** The group it must be called in, null for none (OpenAI only). */
  namespace: string | null
}

/** What the newest message of the user asks, and what has happened in the conversation around it. */
export type Turn = {
  text: string
  images: number
  /** Texts of all messages before this turn. */
  earlier: string[]
  /** Results of this turn's own tool calls, oldest first. */
  toolResults: ToolResult[]
}

/**
 * The current turn: from the end, messages with nothing but tool results (or nothing but a CLI's reminders) and
 * assistant messages are passed over; the first other user message is the turn's.
 */
export function currentTurn(messages: readonly Message[]): Turn {
  const at = messages.findLastIndex(
    (message) => message.role === 'user' && (message.text !== '' || message.images > 0),
  )
  const asking = messages[at]
  const since = messages.slice(at + 1)
  return {
    text: asking?.text ?? '',
    images: asking?.images ?? 0,
    earlier: messages.slice(0, Math.max(at, 0)).flatMap(textsOf),
    toolResults: latestByCall(since.flatMap((message) => message.toolResults)),
  }
}

function textsOf(message: Message): string[] {
  return [message.text, ...message.toolResults.map((result) => result.text)].filter((text) => text !== '')
}

/** A call may report more than once (a script that notifies, then ends): it stays one call, its last word counts. */
function latestByCall(results: ToolResult[]): ToolResult[] {
  return [...new Map(results.map((result) => [result.callId, result])).values()]
}
