/**
 * Settings: what an owner decides about an agent, and access over SSH.
 *
 * Owns the table `agent_ssh_keys` and the rules of the setting columns of an agent's row. Promises that what
 * a turn gets applies to the next execution, and that what the container carries waits for the next start and
 * says so. Refuses to know schedules and runs: their numbers are handed in.
 */
export { internalSettingsRoutes, settingsRoutes } from './routes.ts'
export {
  type AgentSchedule,
  type BlockingSchedule,
  createSettings,
  type Settings,
  type SettingsDeps,
  type Slots,
} from './settings.ts'
export { createSsh, type Ssh, type SshDeps } from './ssh.ts'
