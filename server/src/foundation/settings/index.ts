/**
 * Settings: values that admins can change at run time, and the keys of providers.
 *
 * Owns the tables `settings`, `provider_keys` and `retention_holds`. Values are read from memory: current in the process
 * that wrote them, a moment later in others. Knows the name and type of every setting, but not its effect.
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
export { createProviderKeys, type ProviderKeys, sealedColumns } from './provider-keys.ts'
export { createProviderTest, gitApiAddress, type TestProvider } from './provider-test.ts'
export type { Retention } from './retention.ts'
export { settingsRoutes } from './routes.ts'
export { type Installed, openSettings, type Settings } from './service.ts'
export { createSweep, type SweepDeps, type Swept } from './sweep.ts'
