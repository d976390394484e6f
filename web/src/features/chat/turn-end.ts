/** How a turn ended, according to its stream. */
export type TurnEnd = {
  /** The execution status; `unknown` when the stream did not report it. */
  status: string
  /** One of `executionErrorCodes`, if reported. */
  code: string | null
  detail: string | null
}

/** The end described by a stream object; null for other objects. */
export function turnEnd(object: Record<string, unknown>): TurnEnd | null {
  if (object.type !== 'done' && object.type !== 'stream_end') return null
  return {
    status: textOf(object.status) ?? 'unknown',
    code: textOf(object.error_code),
    detail: textOf(object.detail),
  }
}

export type EndWords = { title: string; hint: string | null }

/** A user-facing title and hint for an error code. */
export function endWords(code: string | null): EndWords {
  return (code === null ? undefined : words[code]) ?? { title: 'The run failed', hint: null }
}

const words: Record<string, EndWords> = {
  user_cancelled: { title: 'Stopped', hint: null },
  agent_stopped: { title: 'The agent was stopped', hint: 'Start the agent, then try again.' },
  agent_deleted: { title: 'The agent was deleted', hint: null },
  timeout: {
    title: 'The run timed out',
    hint: 'Ask for less in one message, or raise the run timeout in the agent’s settings.',
  },
  stalled: {
    title: 'The agent stopped responding',
    hint: 'The run was ended because it produced no output for a long time.',
  },
  rate_limited: { title: 'Rate limit of the model provider reached', hint: 'Wait a moment, then try again.' },
  auth: {
    title: 'The model provider rejected the API key',
    hint: 'Check the provider’s API key in the settings.',
  },
  billing: {
    title: 'The model provider reports a billing problem',
    hint: 'Check the billing of the provider account.',
  },
  oom: { title: 'The agent ran out of memory', hint: 'Raise the memory limit in the agent’s settings.' },
  max_turns: { title: 'The agent reached its step limit', hint: 'Ask the agent to continue.' },
  model_unsupported: { title: 'The model is not supported', hint: 'Choose another model below.' },
  no_result: { title: 'The agent ended without an answer', hint: null },
  network: { title: 'The model provider could not be reached', hint: 'Try again in a moment.' },
  circuit_open: {
    title: 'The circuit breaker is open after repeated failures',
    hint: 'It closes automatically after a while.',
  },
  cap_reached: { title: 'Spend cap reached', hint: null },
  queue_expired: { title: 'The run expired in the queue', hint: null },
  lease_expired: { title: 'Connection to the agent lost during the run', hint: null },
  agent_lost: { title: 'Connection to the agent lost during the run', hint: null },
  agent_error: { title: 'The agent failed', hint: null },
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
