import type { OpsSetting } from '@roost/contracts/foundation/settings'

/** What a setting is called here, and what it does. */
type Words = { label: string; hint: string }

const known: Record<string, Words> = {
  ops_context_warning_threshold: {
    label: 'Context: warn from',
    hint: 'Monitoring warns of an agent whose conversation fills so much of its model’s context.',
  },
  ops_context_critical_threshold: {
    label: 'Context: critical from',
    hint: 'From here on the alert is critical. Not below the warning.',
  },
  ops_idle_timeout_minutes: {
    label: 'Run is stuck after',
    hint: 'A run that has written nothing for so long counts as stuck, and operators are told. It is not stopped.',
  },
  ops_max_execution_minutes: {
    label: 'Run is long after',
    hint: 'A run that has worked for so long counts as long-running in the health of its agent. It is not stopped.',
  },
  ops_cost_limit_daily_usd: {
    label: 'Cost alert per day',
    hint: 'Operators are told at 80 % and at 100 % of what all agents may cost in a day. Nothing is stopped; 0: no alert.',
  },
  ops_alert_suppression_minutes: {
    label: 'Pause between equal alerts',
    hint: 'The same alert is told at most once in this time.',
  },
  ops_health_check_interval: {
    label: 'Check health every',
    hint: 'How often containers and agents are looked at.',
  },
  ssh_access_enabled: {
    label: 'SSH access',
    hint: 'Owners may open an SSH connection into the containers of their agents.',
  },
  ops_log_retention_days: { label: 'Container logs', hint: 'What the containers of agents write.' },
  health_check_retention_days: { label: 'Health checks', hint: 'The results of past checks of agents.' },
  execution_log_retention_days: {
    label: 'Transcripts',
    hint: 'What agents said and did in a run. The run itself stays in the lists.',
  },
  execution_row_retention_days: {
    label: 'Finished runs',
    hint: 'The runs themselves, with their costs and results.',
  },
  event_retention_days: { label: 'Events', hint: 'What agents have told other agents.' },
  schedule_soft_delete_retention_days: {
    label: 'Deleted schedules',
    hint: 'For so long an admin can bring them back.',
  },
  agent_reports_retention_days: { label: 'Reports', hint: 'What agents have reported.' },
  operator_queue_retention_days: {
    label: 'Resolved questions and alerts',
    hint: 'What was in the operators’ queue and is over.',
  },
  agent_reminders_retention_days: {
    label: 'Past reminders',
    hint: 'Reminders that have run or were cancelled.',
  },
  public_chat_retention_days: {
    label: 'Conversations with visitors',
    hint: 'On public links and in paid chats, counted from the last message.',
  },
  audit_retention_days: { label: 'Audit log', hint: 'Who did what. Cannot be shorter than a year.' },
  backup_retention_days: { label: 'Backups', hint: 'Backups that the platform makes of itself.' },
}

const acronyms: Record<string, string> = { usd: 'USD', ssh: 'SSH' }

/** In words, with the range that is allowed and, where it was changed, the default. */
export function wordsOf(key: string, setting: OpsSetting): Words {
  const { label, hint } = known[key] ?? { label: labelOf(key), hint: setting.description }
  const { min, max } = setting
  const range = min !== undefined && max !== undefined ? ` ${text(min)} to ${text(max)}.` : ''
  const origin = setting.is_default ? '' : ` Default: ${text(setting.default)}.`
  return { label, hint: `${hint}${range}${origin}` }
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

/** Of one that a newer platform has: `ops_new_limit_minutes` → “New limit”. */
function labelOf(key: string): string {
  const words = key
    .replace(/^ops_|_retention_days$|_(minutes|enabled|usd)$/g, '')
    .split('_')
    .map((word) => acronyms[word] ?? word)
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
