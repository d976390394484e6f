import { defaultDiskQuotaBytes, maxDiskQuotaBytes } from '@roost/contracts/agents/disk'

/** Type, default and limits of a setting, and the route that changes it. */
export type Definition<T = string | number | boolean> = {
  kind: 'integer' | 'number' | 'boolean' | 'text'
  default: T
  min?: number
  max?: number
  description: string
  /** `plain` settings are changed by key, `ops` and `retention` together through their route. */
  group: 'plain' | 'ops' | 'retention' | 'dedicated'
  route: string | null
}

const opsRoute = '/api/settings/ops/config'
const skillsLibraryRoute = '/api/settings/skills-library'
const monitoringRoute = '/api/monitoring/config'

/** Every setting that Roost reads. Other keys are stored as text for the clients that write them. */
export const definitions = {
  platform_prompt: plainText('System prompt of all agents.'),
  email_auth_enabled: plainBoolean(true, 'Email login, if mail is configured.'),
  public_access_requests_enabled: plainBoolean(false, 'Anyone can request access.'),
  public_chat_url: plainText('Address of the public chat.'),
  platform_default_model: plainText('Model of agents without their own.'),
  dispatch_breaker_enabled: plainBoolean(false, 'Circuit breakers before dispatch.'),
  subscription_auto_switch: plainBoolean(true, 'At a rate limit an agent switches to the next subscription.'),

  ops_context_warning_threshold: ops(75, 1, 100, 'Context use in percent from which an alert warns.'),
  ops_context_critical_threshold: ops(90, 1, 100, 'Context use in percent from which an alert is critical.'),
  ops_idle_timeout_minutes: ops(30, 1, 1440, 'Minutes without output after which a run is listed as stuck.'),
  ops_max_execution_minutes: ops(
    10,
    1,
    1440,
    'Minutes after which a run counts as long-running in the health of its agent.',
  ),
  ops_cost_limit_daily_usd: {
    ...ops(50, 0, 1_000_000, 'Alert at 80 % and 100 % of this cost per day; 0 means no alert.'),
    kind: 'number',
  },
  ops_alert_suppression_minutes: ops(15, 0, 1440, 'Minutes in which the same alert is raised at most once.'),
  ops_health_check_interval: ops(60, 10, 3600, 'Seconds between health checks.'),
  ssh_access_enabled: {
    kind: 'boolean',
    default: true,
    description: 'SSH access to agents’ containers.',
    group: 'ops',
    route: opsRoute,
  } satisfies Definition<boolean> as Definition<boolean>,

  ops_log_retention_days: retention(
    7,
    'Logs of containers. No effect: Roost stores none, and the container engine keeps the newest 30 MB of each container.',
  ),
  health_check_retention_days: retention(7, 'Health samples.'),
  execution_log_retention_days: retention(
    30,
    'Transcripts and tool calls of ended executions. The executions remain.',
  ),
  execution_row_retention_days: retention(
    90,
    'Ended executions, with their loops, fan-outs and live events.',
  ),
  workspace_history_retention_days: retention(
    30,
    'Records of workspaces around runs, except pinned ones and the latest of each agent.',
  ),
  event_retention_days: retention(30, 'Events of agents.'),
  schedule_soft_delete_retention_days: retention(30, 'Deleted schedules.'),
  agent_reports_retention_days: retention(90, 'Reports.'),
  operator_queue_retention_days: retention(90, 'Items of the operator queue.'),
  agent_reminders_retention_days: retention(90, 'Reminders.'),
  public_chat_retention_days: retention(
    90,
    'Conversations of visitors of public links and of payers, from their last message on.',
  ),
  audit_retention_days: retention(365, 'The audit log.', 365),
  backup_retention_days: retention(14, 'Backups.', 1),

  max_parallel_tasks_ceiling: {
    kind: 'integer',
    default: 10,
    min: 1,
    max: 32,
    description: 'Maximum of concurrent runs per agent.',
    group: 'dedicated',
    route: '/api/settings/max-parallel-tasks-ceiling',
  } satisfies Definition<number> as Definition<number>,
  second_factor_required_roles: {
    kind: 'text',
    default: '',
    description: 'Roles that must have a second factor, separated by commas.',
    group: 'dedicated',
    route: '/api/enterprise/2fa/policy',
  } satisfies Definition<string> as Definition<string>,
  max_agents_creator: {
    kind: 'integer',
    default: 10,
    min: 0,
    max: 1000,
    description: 'Agents that a creator can own; 0 means unlimited.',
    group: 'dedicated',
    route: '/api/settings/agent-quotas',
  } satisfies Definition<number> as Definition<number>,
  template_repositories: dedicatedText(
    'Repositories in the list of templates, separated by commas.',
    '/api/settings/templates',
  ),
  skills_library_auto_sync_enabled: skillsLibraryFlag('Sync sources of skills automatically.'),
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
    'Deliver newer versions of skills to agents automatically.',
  ),
  monitoring_enabled: {
    kind: 'boolean',
    default: true,
    description: 'Check agents in the background.',
    group: 'dedicated',
    route: monitoringRoute,
  } satisfies Definition<boolean> as Definition<boolean>,
  monitoring_cpu_warning: threshold(80, 'CPU use of an agent in percent from which monitoring warns.'),
  monitoring_cpu_critical: threshold(95, 'CPU use of an agent in percent from which it is critical.'),
  monitoring_memory_warning: threshold(85, 'Memory use of an agent in percent from which monitoring warns.'),
  monitoring_memory_critical: threshold(95, 'Memory use of an agent in percent from which it is critical.'),
  monitoring_error_rate_warning: failureShare(0.3, 'Share of failed runs from which monitoring warns.'),
  monitoring_error_rate_critical: failureShare(0.5, 'Share of failed runs from which it is critical.'),
  mcp_url: dedicatedText('Address in snippets for MCP clients.', '/api/settings/mcp-url'),
  model_prices: dedicatedText('The imported price table.', '/api/settings/model-prices'),
  agent_opened_networks: dedicatedText(
    'Private addresses and networks that agents may reach.',
    '/api/settings/agent-defaults/network',
  ),
  agent_default_cpu: defaultResource('2'),
  agent_default_memory: defaultResource('4g'),
  agent_default_disk_bytes: {
    kind: 'integer',
    default: defaultDiskQuotaBytes,
    min: 0,
    max: maxDiskQuotaBytes,
    description: 'Disk quota of agents without their own; 0 means unlimited.',
    group: 'dedicated',
    route: '/api/settings/agent-defaults/disk',
  } satisfies Definition<number> as Definition<number>,
} satisfies Record<string, Definition>

type Definitions = typeof definitions
export type SettingKey = keyof Definitions
export type SettingValue<K extends SettingKey> = Definitions[K]['default']
export type SettingValues = { [K in SettingKey]: SettingValue<K> }

export const settingKeys = Object.keys(definitions) as SettingKey[]
export const retentionKeys = settingKeys.filter((key) => definitions[key].group === 'retention')
/** Settings of `ops/config`. */
export const opsKeys = settingKeys.filter((key) => ['ops', 'retention'].includes(definitions[key].group))

/** Pairs of a warning and a critical threshold. A warning above its critical value would never be shown. */
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

/** Window in days; 0, where `min` allows it, means forever. */
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
