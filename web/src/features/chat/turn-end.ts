/** How a turn ended, as its stream told. */
export type TurnEnd = {
  /** Of the execution; `unknown` when the stream could not say. */
  status: string
  /** Of `executionErrorCodes`, where the stream named one. */
  code: string | null
  detail: string | null
}

/** The end that a stream's object tells of; null for all others. */
export function turnEnd(object: Record<string, unknown>): TurnEnd | null {
  if (object.type !== 'done' && object.type !== 'stream_end') return null
  return {
    status: textOf(object.status) ?? 'unknown',
    code: textOf(object.error_code),
    detail: textOf(object.detail),
  }
}

export type EndWords = { title: string; hint: string | null }

/** An error code in a person's words, with what may be done about it. */
export function endWords(code: string | null): EndWords {
  return (code === null ? undefined : words[code]) ?? { title: 'The turn failed', hint: null }
}

const words: Record<string, EndWords> = {
  user_cancelled: { title: 'Stopped', hint: null },
  agent_stopped: { title: 'The agent was stopped', hint: 'Start it, then try again.' },
  agent_deleted: { title: 'The agent was deleted', hint: null },
  timeout: { title: 'The turn took too long', hint: 'Ask for less at once, or raise the agent’s timeout.' },
  stalled: {
    title: 'The agent fell silent',
    hint: 'Nothing came from it for a long while, so it was ended.',
  },
  rate_limited: { title: 'The model provider limits the rate', hint: 'Wait a little, then try again.' },
  auth: { title: 'The model provider refused the key', hint: 'Check the provider key in the settings.' },
  billing: { title: 'The model provider wants to be paid', hint: 'Check the account behind the key.' },
  oom: { title: 'The agent ran out of memory', hint: 'Give it more memory in its settings.' },
  max_turns: { title: 'The agent used up its steps', hint: 'Ask it to go on.' },
  model_unsupported: { title: 'The model cannot be used', hint: 'Choose another model below.' },
  no_result: { title: 'The agent ended without an answer', hint: null },
  network: { title: 'The model provider could not be reached', hint: 'Try again in a moment.' },
  circuit_open: { title: 'The agent is paused after many failures', hint: 'Its breaker closes by itself.' },
  cap_reached: { title: 'The spend cap is reached', hint: null },
  queue_expired: { title: 'It waited too long in the queue', hint: null },
  lease_expired: { title: 'The agent was lost in mid-turn', hint: null },
  agent_lost: { title: 'The agent was lost in mid-turn', hint: null },
  agent_error: { title: 'The agent failed', hint: null },
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
