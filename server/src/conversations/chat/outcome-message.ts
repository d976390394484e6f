/** Explains why a turn has no answer, for people who may not see the agent's error. */
export function outcomeMessage(errorCode: string | null): string {
  return messages[errorCode ?? ''] ?? 'The agent could not answer.'
}

const messages: Record<string, string> = {
  timeout: 'The answer took too long.',
  stalled: 'The agent went silent.',
  rate_limited: 'The model provider limits the rate; try again a little later.',
  cap_reached: 'The spend cap of the agent is reached.',
  user_cancelled: 'The turn was stopped.',
  agent_stopped: 'The agent was stopped.',
  circuit_open: 'The agent takes no messages at the moment.',
}
