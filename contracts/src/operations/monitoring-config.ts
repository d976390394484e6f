import { z } from 'zod'

const percent = z.number().int().min(1).max(100)
const rate = z.number().min(0).max(1)
/** Kept in minutes. */
const wholeMinutes = (shortest: number) =>
  z.number().int().min(shortest).max(86_400).multipleOf(60, 'must be whole minutes: a multiple of 60 seconds')

const fields = {
  enabled: z.boolean().describe('Whether agents are checked in the background.'),
  interval_seconds: z.number().int().min(10).max(3600).describe('Between two checks.'),
  cpu_warning: percent,
  cpu_critical: percent,
  memory_warning: percent,
  memory_critical: percent,
  context_warning: percent,
  context_critical: percent,
  error_rate_warning: rate.describe('Of the runs of the last hour that have ended, from three on.'),
  error_rate_critical: rate,
  stuck_run_seconds: wholeMinutes(60).describe('Silence after which a run counts as stuck.'),
  cooldown_seconds: wholeMinutes(0).describe('The same alert comes at most once in this time.'),
}

export const MonitoringConfig = z.object(fields).meta({ id: 'MonitoringConfig' })
export type MonitoringConfig = z.output<typeof MonitoringConfig>

/** What is left out stays. */
export const MonitoringConfigPatch = z.object(fields).partial()
export type MonitoringConfigPatch = z.output<typeof MonitoringConfigPatch>
