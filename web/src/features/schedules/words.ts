import type { FireOutcome, MisfirePolicy } from '@roost/contracts/triggers/schedules'

type Tone = 'neutral' | 'success' | 'warning' | 'danger'

/** What became of a due time. */
export const outcomeWords: Record<FireOutcome, { label: string; tone: Tone }> = {
  fired: { label: 'Ran', tone: 'success' },
  skipped: { label: 'Skipped', tone: 'warning' },
  suppressed: { label: 'Held back', tone: 'neutral' },
  missed: { label: 'Missed', tone: 'danger' },
}

export type ReasonWords = {
  title: string
  /** What may be done about it. */
  hint?: string
}

/** Why a due time came to nothing. A reason may carry facts of its own after a colon. */
export function reasonWords(reason: string): ReasonWords {
  const [code = '', facts = ''] = split(reason)
  const known = reasons[code]
  if (!known) return { title: reason }
  return facts === ''
    ? known
    : { title: `${known.title} (${facts})`, ...(known.hint ? { hint: known.hint } : {}) }
}

function split(reason: string): string[] {
  const at = reason.indexOf(': ')
  return at === -1 ? [reason] : [reason.slice(0, at), reason.slice(at + 2)]
}

const reasons: Record<string, ReasonWords | undefined> = {
  autonomy_off: {
    title: 'The agent’s autonomy was off',
    hint: 'Switch autonomy on in the agent’s header; until then its schedules wait.',
  },
  schedule_disabled: { title: 'The schedule was switched off' },
  invalid_cron_expression: {
    title: 'The cron expression or the zone is not valid',
    hint: 'Edit the schedule.',
  },
  git_sync_frozen: {
    title: 'Schedules are frozen because the git sync keeps failing',
    hint: 'They go on after a sync succeeds.',
  },
  agent_not_running: { title: 'The agent was stopped', hint: 'Start it before the next due time.' },
  previous_run_active: {
    title: 'The run before was still going',
    hint: 'Make the schedule rarer, or the run shorter.',
  },
  pre_check_empty: {
    title: 'The pre-check had nothing to do',
    hint: 'The hook printed nothing, so nothing ran.',
  },
  circuit_open: {
    title: 'The breaker was open',
    hint: 'Runs failed in a row for want of credentials or credit. It is shown in the agent’s settings.',
  },
  coalesced: { title: 'A later due time ran in its place', hint: 'Several came due while nobody looked.' },
  misfire_policy_skip: { title: 'It came too late', hint: 'This schedule skips what is missed.' },
  outside_grace: {
    title: 'The scheduler was away for over an hour',
    hint: 'Only what is missed by at most an hour is made up for.',
  },
  recipient_unreachable: {
    title: 'The recipient cannot be reached',
    hint: 'Share the agent with them, or deliver to nobody.',
  },
}

export const misfireChoices: readonly { value: MisfirePolicy; label: string; hint: string }[] = [
  { value: 'run_once', label: 'Run once', hint: 'The newest of those missed within an hour' },
  { value: 'run_all', label: 'Run each', hint: 'At most twelve, one after another' },
  { value: 'skip', label: 'Skip them', hint: 'Wait for the next due time' },
]

/** Expressions to begin with. */
export const cronStarts: readonly { expression: string; label: string }[] = [
  { expression: '*/15 * * * *', label: 'Every 15 min' },
  { expression: '0 * * * *', label: 'Hourly' },
  { expression: '0 9 * * *', label: 'Daily' },
  { expression: '0 9 * * MON-FRI', label: 'Weekdays' },
  { expression: '0 9 * * MON', label: 'Weekly' },
  { expression: '0 9 1 * *', label: 'Monthly' },
]
