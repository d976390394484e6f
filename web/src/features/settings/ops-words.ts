import type { OpsSetting } from '@roost/contracts/foundation/settings'

/** The label and the hint of a setting. */
type Words = { label: string; hint: string }

const known: Record<string, Words> = {
  ops_context_warning_threshold: {
    label: 'Context usage: warning',
    hint: 'Raises a warning when a conversation uses this share of the model’s context.',
  },
  ops_context_critical_threshold: {
    label: 'Context usage: critical',
    hint: 'Raises a critical alert. Must not be below the warning.',
  },
  ops_idle_timeout_minutes: {
    label: 'Stuck run after',
    hint: 'A run without output for this time counts as stuck and raises an alert. It is not stopped.',
  },
  ops_max_execution_minutes: {
    label: 'Long run after',
    hint: 'A run of this duration counts as long-running in the agent’s health. It is not stopped.',
  },
  ops_cost_limit_daily_usd: {
    label: 'Daily cost alert',
    hint: 'Raises an alert at 80 % and at 100 % of this daily cost of all agents. Runs are not stopped. 0 disables the alert.',
  },
  ops_alert_suppression_minutes: {
    label: 'Alert repeat interval',
    hint: 'The same alert is raised at most once in this time.',
  },
  ops_health_check_interval: {
    label: 'Health check interval',
    hint: 'How often Roost checks containers and agents.',
  },
  ssh_access_enabled: {
    label: 'SSH access',
    hint: 'Owners may log in to the containers of their agents with SSH.',
  },
  ops_log_retention_days: {
    label: 'Container logs',
    hint: 'No effect: Roost stores no container logs. The container engine keeps the newest 30 MB of each agent.',
  },
  health_check_retention_days: { label: 'Health checks', hint: 'The results of health checks.' },
  execution_log_retention_days: {
    label: 'Transcripts',
    hint: 'The steps of ended runs. The runs stay in the lists, with their results and costs.',
  },
  execution_row_retention_days: {
    label: 'Finished runs',
    hint: 'Ended runs with their results and costs. Loops and fan-outs go with their runs; conversations stay.',
  },
  workspace_history_retention_days: {
    label: 'Workspace history',
    hint: 'The files before and after runs. Pinned records and the latest of each agent stay.',
  },
  event_retention_days: { label: 'Events', hint: 'Events between agents.' },
  schedule_soft_delete_retention_days: {
    label: 'Deleted schedules',
    hint: 'Admins can restore a schedule until then.',
  },
  agent_reports_retention_days: { label: 'Reports', hint: 'Reports of agents.' },
  operator_queue_retention_days: {
    label: 'Resolved questions and alerts',
    hint: 'Resolved items of the inbox.',
  },
  agent_reminders_retention_days: {
    label: 'Past reminders',
    hint: 'Sent and cancelled reminders.',
  },
  public_chat_retention_days: {
    label: 'Conversations with visitors',
    hint: 'Conversations on public links and in paid chats, counted from the last message.',
  },
  audit_retention_days: { label: 'Audit log', hint: 'Audit log entries. At least 365 days.' },
  backup_retention_days: { label: 'Backups', hint: 'Backups of the platform.' },
}

const acronyms: Record<string, string> = { usd: 'USD', ssh: 'SSH' }

/** The hint with the allowed range and, for a changed setting, the default. */
export function wordsOf(key: string, setting: OpsSetting): Words {
  const { label, hint } = known[key] ?? { label: guessedLabel(key), hint: setting.description }
  const { min, max } = setting
  const range = min !== undefined && max !== undefined ? ` ${text(min)} to ${text(max)}.` : ''
  const origin = setting.is_default ? '' : ` Default: ${text(setting.default)}.`
  return { label, hint: `${hint}${range}${origin}` }
}

export function labelOf(key: string): string {
  return known[key]?.label ?? guessedLabel(key)
}

export function unitOf(key: string): string | undefined {
  if (key.endsWith('_days')) return 'days'
  if (key.endsWith('_minutes')) return 'minutes'
  if (key.endsWith('_threshold')) return 'percent'
  if (key.endsWith('_usd')) return 'USD'
  return key.endsWith('_interval') ? 'seconds' : undefined
}

function text(value: OpsSetting['default']): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return typeof value === 'number' ? value.toLocaleString('en') : value
}

/** For unknown settings of a newer platform: `ops_new_limit_minutes` → “New limit”. */
function guessedLabel(key: string): string {
  const words = key
    .replace(/^ops_|_retention_days$|_(minutes|enabled|usd)$/g, '')
    .split('_')
    .map((word) => acronyms[word] ?? word)
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
