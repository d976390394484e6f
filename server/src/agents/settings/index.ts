/**
 * Settings: an owner's settings for an agent.
 *
 * Owns the rules of the setting columns of an agent's row. Run settings apply to the next execution.
 * Container settings apply to the next start and are reported as pending until then.
 */
export { internalSettingsRoutes, settingsRoutes } from './routes.ts'
export {
  type AgentSchedule,
  type BlockingSchedule,
  createSettings,
  type Settings,
  type SettingsDeps,
  type Slots,
} from './service.ts'
