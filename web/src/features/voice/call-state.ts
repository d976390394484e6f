import type { VoiceEndReason, VoiceServerMessage } from '@roost/contracts/conversations/voice'

export type CallLine = { key: number; role: 'user' | 'assistant'; text: string; final: boolean }
export type CallTask = { id: string; label: string; state: string }

/** The visible state of a call. */
export type CallView = {
  state: 'connecting' | 'listening' | 'speaking' | 'ended'
  lines: readonly CallLine[]
  tasks: readonly CallTask[]
  /** Why the call ended; null while it is running, or when the connection broke. */
  reason: VoiceEndReason | null
}

export const newCall: CallView = { state: 'connecting', lines: [], tasks: [], reason: null }

/** The state after a message. */
export function callAfter(call: CallView, message: VoiceServerMessage): CallView {
  switch (message.type) {
    case 'status':
      return { ...call, state: message.state, reason: message.reason ?? call.reason }
    case 'transcript':
      return { ...call, lines: withLine(call.lines, message) }
    case 'task': {
      const { task_id: id, label, state } = message
      const isKnown = call.tasks.some((task) => task.id === id)
      const task = { id, label, state }
      const tasks = isKnown ? call.tasks.map((each) => (each.id === id ? task : each)) : [...call.tasks, task]
      return { ...call, tasks }
    }
    default:
      return call
  }
}

/** A line grows until it is final; then the next line of its speaker begins. */
function withLine(
  lines: readonly CallLine[],
  { role, text, final }: Omit<CallLine, 'key'>,
): readonly CallLine[] {
  const open = lines.findLastIndex((line) => line.role === role && !line.final)
  if (open < 0) return [...lines, { key: lines.length, role, text, final }]
  return lines.map((line, index) => (index === open ? { ...line, text, final } : line))
}

export function endWords(reason: VoiceEndReason | null): string {
  switch (reason) {
    case 'stopped':
      return 'Call ended.'
    case 'time_limit':
      return 'Call ended. Calls are limited to 30 minutes.'
    case 'replaced':
      return 'Call ended, because you started another call.'
    case 'access_lost':
      return 'You no longer have access to this agent.'
    case 'agent_deleted':
      return 'The agent was deleted.'
    case 'conversation_gone':
      return 'The conversation was deleted.'
    case 'provider_refused':
      return 'The voice provider refused the call. Ask an admin to check its API key in the settings.'
    case 'provider_lost':
      return 'The connection to the voice provider was lost. Call again in a moment.'
    case 'platform_stopping':
      return 'The platform is restarting. Call again in a moment.'
    case 'slow_client':
    case 'bad_frames':
    case 'disconnected':
    case 'not_answered':
    case null:
      return 'The connection was lost. Call again.'
  }
}
