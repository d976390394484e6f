import type { MonitoringConfig, MonitoringConfigPatch } from '@roost/contracts/operations/monitoring-config'
import { invalidField } from '../../kit/fault.ts'
import type { SettingKey } from './definitions.ts'
import { crossedThresholds } from './rules.ts'
import type { Values } from './values.ts'

export type MonitoringSettings = {
  config(): MonitoringConfig
  /** Omitted fields keep their value. Throws `validation_error` for a warning above its critical value. */
  put(patch: MonitoringConfigPatch): Promise<void>
}

/** Settings of monitoring. Some are `ops` settings under another name, so that no value is stored twice. */
export function createMonitoringSettings(values: Values): MonitoringSettings {
  const config = (): MonitoringConfig => ({
    enabled: values.value('monitoring_enabled'),
    interval_seconds: values.value('ops_health_check_interval'),
    cpu_warning: values.value('monitoring_cpu_warning'),
    cpu_critical: values.value('monitoring_cpu_critical'),
    memory_warning: values.value('monitoring_memory_warning'),
    memory_critical: values.value('monitoring_memory_critical'),
    context_warning: values.value('ops_context_warning_threshold'),
    context_critical: values.value('ops_context_critical_threshold'),
    error_rate_warning: values.value('monitoring_error_rate_warning'),
    error_rate_critical: values.value('monitoring_error_rate_critical'),
    stuck_run_seconds: values.value('ops_idle_timeout_minutes') * 60,
    cooldown_seconds: values.value('ops_alert_suppression_minutes') * 60,
  })

  return {
    config,
    async put(patch) {
      const rows = Object.entries(patch).flatMap(([field, value]) => {
        if (value === undefined) return []
        const [key, unit] = storedAs[field as keyof MonitoringConfig]
        return [[key, String(typeof value === 'number' ? value / unit : value)]]
      })
      if (rows.length === 0) return
      const changed = Object.fromEntries(rows)
      await values.write(changed, (after) => {
        const [crossed] = crossedThresholds(Object.keys(changed), after, fieldOf)
        if (crossed) throw invalidField([fieldOf(crossed.key)], crossed.rule)
      })
    },
  }
}

/** Setting of each field, and the number of field units in one unit of the setting. */
const storedAs: Record<keyof MonitoringConfig, [key: SettingKey, unit: number]> = {
  enabled: ['monitoring_enabled', 1],
  interval_seconds: ['ops_health_check_interval', 1],
  cpu_warning: ['monitoring_cpu_warning', 1],
  cpu_critical: ['monitoring_cpu_critical', 1],
  memory_warning: ['monitoring_memory_warning', 1],
  memory_critical: ['monitoring_memory_critical', 1],
  context_warning: ['ops_context_warning_threshold', 1],
  context_critical: ['ops_context_critical_threshold', 1],
  error_rate_warning: ['monitoring_error_rate_warning', 1],
  error_rate_critical: ['monitoring_error_rate_critical', 1],
  stuck_run_seconds: ['ops_idle_timeout_minutes', 60],
  cooldown_seconds: ['ops_alert_suppression_minutes', 60],
}

function fieldOf(key: SettingKey): string {
  return Object.entries(storedAs).find(([, [stored]]) => stored === key)?.[0] ?? key
}
