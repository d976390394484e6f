import { z } from 'zod'

const percent = z.number().int().min(1).max(100)
const rate = z.number().min(0).max(1)
/** The setting is stored in minutes. */
const wholeMinutes = (minSeconds: number) =>
  z
    .number()
    .int()
    .min(minSeconds)
    .max(86_400)
    .multipleOf(60, 'must be whole minutes: a multiple of 60 seconds')

const fields = {
  enabled: z.boolean().describe('Whether the platform checks agents in the background.'),
  interval_seconds: z.number().int().min(10).max(3600).describe('Time between two checks.'),
  cpu_warning: percent,
  cpu_critical: percent,
  memory_warning: percent,
  memory_critical: percent,
  context_warning: percent,
  context_critical: percent,
  error_rate_warning: rate.describe(
    'Share of failed runs among those that ended in the last hour; needs at least three.',
  ),
  error_rate_critical: rate,
  stuck_run_seconds: wholeMinutes(60).describe('Time without output after which a run counts as stuck.'),
  cooldown_seconds: wholeMinutes(0).describe('The same alert is raised at most once in this time.'),
}

export const MonitoringConfig = z.object(fields).meta({ id: 'MonitoringConfig' })
export type MonitoringConfig = z.output<typeof MonitoringConfig>

/** Omitted fields stay unchanged. */
export const MonitoringConfigPatch = z.object(fields).partial()
export type MonitoringConfigPatch = z.output<typeof MonitoringConfigPatch>
