import type { ScheduleSummary } from '@roost/contracts/triggers/schedule-analytics'
import type { FireOutcome, MisfirePolicy } from '@roost/contracts/triggers/schedules'

type Tone = 'neutral' | 'success' | 'warning' | 'danger'

/** The outcomes of a due time. */
export const outcomeWords: Record<FireOutcome, { label: string; tone: Tone }> = {
  fired: { label: 'Fired', tone: 'success' },
  skipped: { label: 'Skipped', tone: 'warning' },
  suppressed: { label: 'Held', tone: 'neutral' },
  missed: { label: 'Missed', tone: 'danger' },
}

export type ReasonWords = {
  title: string
  /** What the user can do about it. */
  hint?: string
}

/** Why a due time was not fired. A reason may have details after a colon. */
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
    hint: 'Turn autonomy on in the agent’s header.',
  },
  schedule_disabled: { title: 'The schedule was disabled' },
  invalid_cron_expression: {
    title: 'The cron expression or the time zone is invalid',
    hint: 'Edit the schedule.',
  },
  git_sync_frozen: {
    title: 'Schedules are frozen because the git sync keeps failing',
    hint: 'Schedules resume after a successful sync.',
  },
  agent_not_running: { title: 'The agent was stopped', hint: 'Start the agent before the next due time.' },
  previous_run_active: {
    title: 'The previous run was still running',
    hint: 'Let the schedule fire less often, or shorten the run.',
  },
  pre_check_empty: {
    title: 'The pre-check hook found nothing to do',
    hint: 'The hook printed nothing, so no run was started.',
  },
  circuit_open: {
    title: 'The circuit breaker was open',
    hint: 'Several consecutive runs failed for missing credentials or credit. See the agent’s settings.',
  },
  coalesced: {
    title: 'A later due time fired instead',
    hint: 'Several due times passed while the scheduler was not running.',
  },
  misfire_policy_skip: { title: 'Missed', hint: 'This schedule skips missed due times.' },
  outside_grace: {
    title: 'The scheduler was not running for more than 1 hour',
    hint: 'Only due times missed by at most 1 hour fire later.',
  },
  recipient_unreachable: {
    title: 'The recipient is not available',
    hint: 'Share the agent with the recipient, or remove the delivery.',
  },
}

export const misfireChoices: readonly { value: MisfirePolicy; label: string; hint: string }[] = [
  { value: 'run_once', label: 'Run once', hint: 'Fires the newest due time missed within 1 hour' },
  { value: 'run_all', label: 'Run all', hint: 'Fires up to 12 missed due times in sequence' },
  { value: 'skip', label: 'Skip', hint: 'Waits for the next due time' },
]

/** Presets of cron expressions. */
export const cronStarts: readonly { expression: string; label: string }[] = [
  { expression: '*/15 * * * *', label: 'Every 15 min' },
  { expression: '0 * * * *', label: 'Hourly' },
  { expression: '0 9 * * *', label: 'Daily' },
  { expression: '0 9 * * MON-FRI', label: 'Weekdays' },
  { expression: '0 9 * * MON', label: 'Weekly' },
  { expression: '0 9 1 * *', label: 'Monthly' },
]

type WeekCounts = Pick<
  ScheduleSummary['schedules'][number],
  'run_count' | 'success_count' | 'failed_count' | 'cancelled_count'
>

/**
 * How the runs of a schedule ended. Not as a percentage: the success rate leaves out cancelled runs, so one success
 * and one cancelled run would be "2 runs, 100%".
 */
export function weekWords(week: WeekCounts): { text: string; tone: 'neutral' | 'danger' } | null {
  const { run_count: runs, success_count, failed_count, cancelled_count } = week
  if (runs > 0 && success_count === runs) return { text: 'all succeeded', tone: 'neutral' }
  const parts = [
    failed_count > 0 && `${failed_count} failed`,
    cancelled_count > 0 && `${cancelled_count} cancelled`,
    success_count > 0 && `${success_count} succeeded`,
  ].filter((part) => part !== false)
  const tone = failed_count * 4 > success_count ? 'danger' : 'neutral'
  return parts.length === 0 ? null : { text: parts.slice(0, 2).join(', '), tone }
}
