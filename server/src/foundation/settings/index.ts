/**
 * What an admin may change while the platform runs, and the keys of providers. Values are read from
 * memory: exact in the process that wrote them, a moment later in others. Knows the settings of the whole
 * platform by name and type; refuses to know what they do.
 */
export { backupDays } from './backup-days.ts'
export {
  type Definition,
  retentionKeys,
  type SettingKey,
  type SettingValue,
  type SettingValues,
} from './definitions.ts'
export type { MonitoringSettings } from './monitoring.ts'
export { platformSettingRoutes } from './platform-routes.ts'
export { createProviderKeys, type ProviderKeys } from './provider-keys.ts'
export { createProviderTest, gitApiAddress, type TestProvider } from './provider-test.ts'
export type { Retention } from './retention.ts'
export { settingsRoutes } from './routes.ts'
export { type Installed, openSettings, type Settings } from './service.ts'
export { createSweep, type SweepDeps, type Swept } from './sweep.ts'
