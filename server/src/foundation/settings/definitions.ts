/** What a setting is: how its text is read, what it is when nothing is stored, and where it is changed. */
export type Definition<T = string | number | boolean> = {
  kind: 'integer' | 'number' | 'boolean' | 'text'
  default: T
  min?: number
  max?: number
  description: string
  /** `plain` is changed by its key; `ops` and `retention` together through their route. */
  group: 'plain' | 'ops' | 'retention' | 'dedicated'
  route: string | null
}

const opsRoute = '/api/settings/ops/config'
const skillsLibraryRoute = '/api/settings/skills-library'
const monitoringRoute = '/api/monitoring/config'

/** Every setting that Roost reads; keys that are not here are kept as text for whoever wrote them. */
export const definitions = {
  platform_prompt: plainText('System prompt of all agents.'),
  email_auth_enabled: plainBoolean(true, 'Signing in by e-mail, where mail is configured.'),
  public_access_requests_enabled: plainBoolean(false, 'Anybody may ask for access.'),
  public_chat_url: plainText('Address under which public chat is reached.'),
  platform_default_model: plainText('Model of agents that name none.'),
  dispatch_breaker_enabled: plainBoolean(false, 'Circuit breakers before dispatch.'),
  subscription_auto_switch: plainBoolean(true, 'On a limit an agent moves to the next subscription.'),

  ops_context_warning_threshold: ops(75, 1, 100, 'Percent of the context from which an alert warns.'),
  ops_context_critical_threshold: ops(90, 1, 100, 'Percent of the context from which an alert is critical.'),
  ops_idle_timeout_minutes: ops(30, 1, 1440, 'Silence after which a run is listed as stuck.'),
  ops_max_execution_minutes: ops(
    10,
    1,
    1440,
    'Age after which a run counts as long-running in the health of its agent.',
  ),
  ops_cost_limit_daily_usd: {
    ...ops(50, 0, 1_000_000, 'Alert at 80 % and 100 % of this cost per day; 0 is none.'),
    kind: 'number',
  },
  ops_alert_suppression_minutes: ops(15, 0, 1440, 'The same alert comes at most once in this time.'),
  ops_health_check_interval: ops(60, 10, 3600, 'Seconds between health checks.'),
  ssh_access_enabled: {
    kind: 'boolean',
    default: true,
    description: 'SSH into agents’ containers.',
    group: 'ops',
    route: opsRoute,
  } satisfies Definition<boolean> as Definition<boolean>,

  ops_log_retention_days: retention(7, 'Logs of containers.'),
  health_check_retention_days: retention(7, 'Health samples.'),
  execution_log_retention_days: retention(30, 'Transcripts; the execution stays.'),
  execution_row_retention_days: retention(90, 'Finished executions.'),
  event_retention_days: retention(30, 'Events of agents.'),
  schedule_soft_delete_retention_days: retention(30, 'Deleted schedules.'),
  agent_reports_retention_days: retention(90, 'Reports.'),
  operator_queue_retention_days: retention(90, 'Items of the operator queue.'),
  agent_reminders_retention_days: retention(90, 'Reminders.'),
  public_chat_retention_days: retention(
    90,
    'Conversations of visitors of public links and of payers, after their last message.',
  ),
  audit_retention_days: retention(365, 'The audit log.', 365),
  backup_retention_days: retention(14, 'Backups.', 1),

  max_parallel_tasks_ceiling: {
    kind: 'integer',
    default: 10,
    min: 1,
    max: 32,
    description: 'The most runs that any agent may have at once.',
    group: 'dedicated',
    route: '/api/settings/max-parallel-tasks-ceiling',
  } satisfies Definition<number> as Definition<number>,
  second_factor_required_roles: {
    kind: 'text',
    default: '',
    description: 'Roles that must have a second factor, with commas.',
    group: 'dedicated',
    route: '/api/enterprise/2fa/policy',
  } satisfies Definition<string> as Definition<string>,
  max_agents_creator: {
    kind: 'integer',
    default: 10,
    min: 0,
    max: 1000,
    description: 'Agents that a creator may own; 0 is without a bound.',
    group: 'dedicated',
    route: '/api/settings/agent-quotas',
  } satisfies Definition<number> as Definition<number>,
  template_repositories: dedicatedText(
    'Repositories that the list of templates shows, with commas.',
    '/api/settings/templates',
  ),
  skills_library_auto_sync_enabled: skillsLibraryFlag('Sources of skills are synced by themselves.'),
  skills_library_auto_sync_interval_seconds: {
    kind: 'integer',
    default: 3600,
    min: 300,
    max: 86_400,
    description: 'Seconds between two syncs of a source of skills.',
    group: 'dedicated',
    route: skillsLibraryRoute,
  } satisfies Definition<number> as Definition<number>,
  skills_library_auto_reinject_enabled: skillsLibraryFlag(
    'Agents get newer versions of skills by themselves.',
  ),
  monitoring_enabled: {
    kind: 'boolean',
    default: true,
    description: 'Agents are checked in the background.',
    group: 'dedicated',
    route: monitoringRoute,
  } satisfies Definition<boolean> as Definition<boolean>,
  monitoring_cpu_warning: threshold(80, 'Percent of an agent’s CPUs from which monitoring warns.'),
  monitoring_cpu_critical: threshold(95, 'Percent of an agent’s CPUs that is critical.'),
  monitoring_memory_warning: threshold(85, 'Percent of an agent’s memory from which monitoring warns.'),
  monitoring_memory_critical: threshold(95, 'Percent of an agent’s memory that is critical.'),
  monitoring_error_rate_warning: failureShare(0.3, 'Share of failed runs from which monitoring warns.'),
  monitoring_error_rate_critical: failureShare(0.5, 'Share of failed runs that is critical.'),
  mcp_url: dedicatedText('Address in snippets for MCP clients.', '/api/settings/mcp-url'),
  model_prices: dedicatedText('The imported price table.', '/api/settings/model-prices'),
  agent_default_cpu: defaultResource('2'),
  agent_default_memory: defaultResource('4g'),
} satisfies Record<string, Definition>

type Definitions = typeof definitions
export type SettingKey = keyof Definitions
export type SettingValue<K extends SettingKey> = Definitions[K]['default']
export type SettingValues = { [K in SettingKey]: SettingValue<K> }

export const settingKeys = Object.keys(definitions) as SettingKey[]
export const retentionKeys = settingKeys.filter((key) => definitions[key].group === 'retention')
/** Everything that `ops/config` shows. */
export const opsKeys = settingKeys.filter((key) => ['ops', 'retention'].includes(definitions[key].group))

/** The first warns, the second is critical. A warning above what is critical would never be shown. */
export const thresholdPairs = [
  ['ops_context_warning_threshold', 'ops_context_critical_threshold'],
  ['monitoring_cpu_warning', 'monitoring_cpu_critical'],
  ['monitoring_memory_warning', 'monitoring_memory_critical'],
  ['monitoring_error_rate_warning', 'monitoring_error_rate_critical'],
] as const satisfies [SettingKey, SettingKey][]

export function definitionOf(key: string): Definition | null {
  return Object.hasOwn(definitions, key) ? definitions[key as SettingKey] : null
}

function plainText(description: string): Definition<string> {
  return { kind: 'text', default: '', description, group: 'plain', route: null }
}

function plainBoolean(fallback: boolean, description: string): Definition<boolean> {
  return { kind: 'boolean', default: fallback, description, group: 'plain', route: null }
}

function ops(fallback: number, min: number, max: number, description: string): Definition<number> {
  return { kind: 'integer', default: fallback, min, max, description, group: 'ops', route: opsRoute }
}

/** Days; 0 keeps for ever where `min` allows it. */
function retention(fallback: number, what: string, min = 0): Definition<number> {
  const description = `Days to keep. ${what}`
  return { ...ops(fallback, min, 3650, description), group: 'retention' }
}

function dedicatedText(description: string, route: string): Definition<string> {
  return { kind: 'text', default: '', description, group: 'dedicated', route }
}

function skillsLibraryFlag(description: string): Definition<boolean> {
  return { kind: 'boolean', default: false, description, group: 'dedicated', route: skillsLibraryRoute }
}

function threshold(fallback: number, description: string): Definition<number> {
  return {
    kind: 'integer',
    default: fallback,
    min: 1,
    max: 100,
    description,
    group: 'dedicated',
    route: monitoringRoute,
  }
}

function failureShare(fallback: number, description: string): Definition<number> {
  return { ...threshold(fallback, description), kind: 'number', min: 0, max: 1 }
}

function defaultResource(fallback: string): Definition<string> {
  return {
    kind: 'text',
    default: fallback,
    description: 'Resources of new agents.',
    group: 'dedicated',
    route: '/api/settings/agent-defaults/resources',
  }
}
