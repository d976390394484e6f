import {
  type ExecutionErrorCode,
  type ExecutionStatus,
  executionStatuses,
  type Terminated,
  type Trigger,
  triggers,
} from '@roost/contracts/runs/executions'

type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger' | 'info'

/** What people are told of a status, in lists and filters. */
export const statusWords: Record<ExecutionStatus, { label: string; tone: Tone }> = {
  queued: { label: 'Queued', tone: 'info' },
  running: { label: 'Running', tone: 'accent' },
  success: { label: 'Succeeded', tone: 'success' },
  failed: { label: 'Failed', tone: 'danger' },
  cancelled: { label: 'Cancelled', tone: 'neutral' },
  skipped: { label: 'Skipped', tone: 'neutral' },
  pending_retry: { label: 'Waiting to retry', tone: 'warning' },
}

export const triggerWords: Record<Trigger, string> = {
  schedule: 'Schedule',
  manual: 'By hand',
  chat: 'Chat',
  session: 'Chat',
  workspace: 'Workspace',
  mcp: 'MCP',
  agent: 'Agent',
  self_task: 'Self-task',
  event: 'Event',
  webhook: 'Webhook',
  fan_out: 'Fan-out',
  loop: 'Loop',
  reminder: 'Reminder',
  retry: 'Retry',
  validation: 'Validation',
  operator_response: 'Answer',
  public: 'Public link',
  paid: 'Paid call',
  slack: 'Slack',
  voice: 'Voice',
  voip: 'Phone call',
  playbook: 'Playbook',
}

export const statusChoices = executionStatuses.map((value) => ({ value, label: statusWords[value].label }))

/** The two kinds of chat differ in the API, and so in the filter. */
export const triggerChoices = triggers.map((value) => ({
  value,
  label: value === 'session' ? 'Chat in a session' : triggerWords[value],
}))

/** A status or trigger as it stands in an address; null for anything that is none. */
export function knownStatus(text: string | undefined): ExecutionStatus | null {
  return executionStatuses.find((status) => status === text) ?? null
}
export function knownTrigger(text: string | undefined): Trigger | null {
  return triggers.find((trigger) => trigger === text) ?? null
}

/** Where a person can do something about a failure. */
export type Remedy = 'provider_keys' | 'agent_settings' | 'agent'
export type ErrorWords = { title: string; hint: string; remedy?: Remedy }

/** An error code in a person's words, and what may be done about it. */
export const errorWords: Record<ExecutionErrorCode, ErrorWords> = {
  timeout: {
    title: 'It took longer than it may',
    hint: 'Ask for less at once, or raise the agent’s timeout.',
    remedy: 'agent_settings',
  },
  stalled: {
    title: 'The runtime fell silent',
    hint: 'Nothing came from it for a long while, so it was ended. The last step below shows where it hung.',
  },
  rate_limited: {
    title: 'The model provider limits the rate',
    hint: 'Too many requests, or the quota of the key is used up. Try again later, or with another key.',
    remedy: 'provider_keys',
  },
  auth: {
    title: 'The model provider refused the key',
    hint: 'The key is missing, wrong or revoked. Every run will fail like this until it is replaced.',
    remedy: 'provider_keys',
  },
  billing: {
    title: 'The model provider wants to be paid',
    hint: 'The account behind the key has no credit left, or its payment failed.',
    remedy: 'provider_keys',
  },
  oom: {
    title: 'The agent ran out of memory',
    hint: 'The container was at its limit. Give it more memory, or let fewer runs go at once.',
    remedy: 'agent_settings',
  },
  max_turns: {
    title: 'It used up its model calls',
    hint: 'The work may be half done. Ask it to go on, or allow more turns.',
  },
  model_unsupported: {
    title: 'The model cannot be used',
    hint: 'The runtime or the provider does not know it. Choose another one.',
    remedy: 'agent_settings',
  },
  agent_error: {
    title: 'The runtime failed',
    hint: 'The coding CLI ended with an error of its own. Its words are below, and in the transcript.',
  },
  no_result: {
    title: 'It ended without an answer',
    hint: 'The runtime exited before it gave a result. The raw lines show the last thing it said.',
  },
  network: {
    title: 'The model provider could not be reached',
    hint: 'The connection broke or timed out. This often passes by itself.',
  },
  circuit_open: {
    title: 'The breaker is open',
    hint: 'Several runs in a row failed for want of credentials or credit, so new ones are refused for a while.',
    remedy: 'agent_settings',
  },
  cap_reached: {
    title: 'The spend cap is reached',
    hint: 'Raise the cap, or wait until its period is over.',
    remedy: 'agent_settings',
  },
  recipient_unreachable: {
    title: 'The result had nowhere to go',
    hint: 'The recipient named for it cannot be reached, so the run was not started.',
  },
  queue_expired: {
    title: 'It waited too long for a slot',
    hint: 'Runs that wait for 24 hours are given up. Allow more of them at once, or send fewer.',
    remedy: 'agent_settings',
  },
  lease_expired: {
    title: 'The agent stopped reporting',
    hint: 'It may have crashed or lost its connection in the middle of the work.',
    remedy: 'agent',
  },
  agent_lost: {
    title: 'The agent was lost in the middle of the work',
    hint: 'Its container came back without this run, or not at all.',
    remedy: 'agent',
  },
  agent_stopped: {
    title: 'The agent was stopped',
    hint: 'Start it, then run this again.',
    remedy: 'agent',
  },
  agent_deleted: { title: 'The agent was deleted', hint: 'Its past runs are kept for a while.' },
  user_cancelled: { title: 'It was stopped by hand', hint: 'Nothing more was done after that.' },
}

/** What ended the turn, beside the status. Unknown ones are shown as they are. */
export function terminalWords(reason: string): string {
  return terminal[reason] ?? humanWords(reason)
}

const terminal: Record<string, string> = {
  completed: 'Completed',
  max_duration: 'Ran into its time limit',
  stall_no_output: 'No output for too long',
  auth: 'Refused by the provider',
  empty_result: 'No result',
  cancelled: 'Cancelled',
  crashed: 'Crashed',
}

/** `schedule_disabled` as `Schedule disabled`. */
export function humanWords(code: string): string {
  const words = code.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What a request to stop came to. */
export function terminatedWords({ status, delivered }: Pick<Terminated, 'status' | 'delivered'>): string {
  if (status === 'already_finished') return 'It had ended already.'
  if (status === 'cancelled_while_queued') return 'Taken out of the queue before it began.'
  if (status === 'cancelled_while_parked') return 'Stopped before the runtime began.'
  return delivered === false
    ? 'Stopped. The agent is out of reach and learns of it when it is back.'
    : 'Stopped.'
}
