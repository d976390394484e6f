import {
  type ExecutionErrorCode,
  type ExecutionStatus,
  executionStatuses,
  type Terminated,
  type Trigger,
  triggers,
} from '@roost/contracts/runs/executions'

type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger' | 'info'

/** Labels of the statuses in lists and filters. */
export const statusWords: Record<ExecutionStatus, { label: string; tone: Tone }> = {
  queued: { label: 'Queued', tone: 'info' },
  running: { label: 'Running', tone: 'accent' },
  success: { label: 'Succeeded', tone: 'success' },
  failed: { label: 'Failed', tone: 'danger' },
  cancelled: { label: 'Cancelled', tone: 'neutral' },
  skipped: { label: 'Skipped', tone: 'neutral' },
  pending_retry: { label: 'Retry pending', tone: 'warning' },
}

export const triggerWords: Record<Trigger, string> = {
  schedule: 'Schedule',
  manual: 'Manual',
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

/** The API distinguishes two kinds of chat, and so does the filter. */
export const triggerChoices = triggers.map((value) => ({
  value,
  label: value === 'session' ? 'Chat (session)' : triggerWords[value],
}))

/** A status or trigger from an address; null for an invalid one. */
export function knownStatus(text: string | undefined): ExecutionStatus | null {
  return executionStatuses.find((status) => status === text) ?? null
}
export function knownTrigger(text: string | undefined): Trigger | null {
  return triggers.find((trigger) => trigger === text) ?? null
}

/** Where the user can fix the cause of a failure. */
export type Remedy = 'provider_keys' | 'agent_settings' | 'agent'
export type ErrorWords = { title: string; hint: string; remedy?: Remedy }

/** A user-facing title and hint for an error code. */
export const errorWords: Record<ExecutionErrorCode, ErrorWords> = {
  timeout: {
    title: 'The run timed out',
    hint: 'Split the task, or raise the run timeout in the agent’s settings.',
    remedy: 'agent_settings',
  },
  stalled: {
    title: 'The runtime stopped responding',
    hint: 'The run was ended because it produced no output for a long time. The last step below shows where it stopped.',
  },
  rate_limited: {
    title: 'Rate limit of the model provider reached',
    hint: 'Too many requests, or the quota of the API key is used up. Try again later or use another key.',
    remedy: 'provider_keys',
  },
  auth: {
    title: 'The model provider rejected the API key',
    hint: 'The API key is missing, wrong or revoked. Every run fails until it is replaced.',
    remedy: 'provider_keys',
  },
  billing: {
    title: 'The model provider reports a billing problem',
    hint: 'The provider account has no credit left, or its payment failed.',
    remedy: 'provider_keys',
  },
  oom: {
    title: 'The agent ran out of memory',
    hint: 'The container reached its memory limit. Raise the limit, or allow fewer parallel runs.',
    remedy: 'agent_settings',
  },
  max_turns: {
    title: 'The run reached its limit of model calls',
    hint: 'The work may be incomplete. Ask the agent to continue, or allow more turns.',
  },
  model_unsupported: {
    title: 'The model is not supported',
    hint: 'The runtime or the provider does not know this model. Choose another one.',
    remedy: 'agent_settings',
  },
  agent_error: {
    title: 'The runtime failed',
    hint: 'The coding CLI reported an error. See the message below and the transcript.',
  },
  no_result: {
    title: 'The run ended without an answer',
    hint: 'The runtime exited without a result. The raw lines show its last output.',
  },
  network: {
    title: 'The model provider could not be reached',
    hint: 'The connection failed or timed out. This is often temporary. Try again in a moment.',
  },
  circuit_open: {
    title: 'The circuit breaker is open',
    hint: 'New runs are refused for a while, because several consecutive runs failed for missing credentials or credit.',
    remedy: 'agent_settings',
  },
  cap_reached: {
    title: 'Spend cap reached',
    hint: 'Raise the spend cap, or wait until its period ends.',
    remedy: 'agent_settings',
  },
  recipient_unreachable: {
    title: 'The result could not be delivered',
    hint: 'The recipient is not available, so the run was not started.',
  },
  queue_expired: {
    title: 'The run expired in the queue',
    hint: 'Queued runs expire after 24 hours. Allow more parallel runs, or send fewer tasks.',
    remedy: 'agent_settings',
  },
  lease_expired: {
    title: 'The agent stopped reporting',
    hint: 'The agent may have crashed or lost its connection during the run.',
    remedy: 'agent',
  },
  agent_lost: {
    title: 'The agent was lost during the run',
    hint: 'The container restarted without this run, or did not restart.',
    remedy: 'agent',
  },
  agent_stopped: {
    title: 'The agent was stopped',
    hint: 'Start the agent, then run the task again.',
    remedy: 'agent',
  },
  agent_deleted: {
    title: 'The agent was deleted',
    hint: 'Past runs are kept until their retention period ends.',
  },
  access_ended: {
    title: 'The access of its person ended',
    hint: 'The share, the public link or the account that this run worked for has ended.',
  },
  user_cancelled: { title: 'Stopped by a user', hint: 'The run was cancelled on request.' },
}

/** The reason beside the status. Unknown reasons are formatted as words. */
export function terminalWords(reason: string): string {
  return terminal[reason] ?? humanWords(reason)
}

const terminal: Record<string, string> = {
  completed: 'Completed',
  max_duration: 'Timed out',
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

/** The outcome of a stop request. */
export function terminatedWords({ status, delivered }: Pick<Terminated, 'status' | 'delivered'>): string {
  if (status === 'already_finished') return 'The run had already ended.'
  if (status === 'cancelled_while_queued') return 'Run removed from the queue before it started.'
  if (status === 'cancelled_while_parked') return 'Run stopped before the runtime started.'
  return delivered === false
    ? 'Run stopped. The agent is offline and stops when it reconnects.'
    : 'Run stopped.'
}
