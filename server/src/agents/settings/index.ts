/**
 * Settings: what an owner decides about an agent.
 *
 * Owns the rules of the setting columns of an agent's row. Promises that a setting of turns applies to the next
 * execution, and that a setting of the container applies to the next start and is reported as pending until then.
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
