import { cpuChoices, type Resources } from '@roost/contracts/agents/agent'
import {
  type FeatureFlag,
  featureFlags,
  type OpsSetting,
  type Provider,
  type Setting,
} from '@roost/contracts/foundation/settings'
import { type Role, roles } from '@roost/contracts/kit/access'
import type { SkillsLibrarySettings } from '@roost/contracts/skills/library'
import type { Loop } from '../../background/loops.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Vault } from '../vault/index.ts'
import {
  type Definition,
  definitionOf,
  definitions,
  opsKeys,
  type SettingKey,
  type SettingValue,
} from './definitions.ts'
import { createMonitoringSettings, type MonitoringSettings } from './monitoring.ts'
import { createProviderKeys, type ProviderKeys, providerKeysTopic } from './provider-keys.ts'
import { createRetention, type Retention } from './retention.ts'
import { checkPlain, checkValue, crossedThresholds, refuseKey } from './rules.ts'
import { openValues, type ReadSetting, settingsTopic, type Values } from './values.ts'

/** Features and keys that the environment of this installation configures. */
export type Installed = {
  mail: boolean
  voip: boolean
  paidChat: boolean
  dispatchBreaker: boolean
  providerKeys: Record<Provider, Secret | null>
}

export type Settings = {
  value<K extends SettingKey>(key: K): SettingValue<K>
  providerKey(provider: Provider): Secret | null
  readonly providerKeys: ProviderKeys
  featureFlags(): Record<FeatureFlag, boolean>

  list(): Setting[]
  /** Throws `setting_not_found`. */
  get(key: string): Setting
  /** Throws `secret_setting_key`, `dedicated_setting_key`, `invalid_model`, `validation_error`. */
  put(key: string, value: string): Promise<Setting>
  /** Throws `setting_not_found` and what `put` throws for the key. */
  remove(key: string): Promise<void>

  opsConfig(): Record<string, OpsSetting>
  /** Throws `invalid_ops_value`, and then changes nothing. */
  putOps(input: Record<string, string | number | boolean>): Promise<{ updated: string[]; ignored: string[] }>
  resetOps(): Promise<{ reset: string[]; skipped: string[] }>

  ceiling(): { value: number; default: number; min: number; max: number }
  putCeiling(value: number): Promise<void>
  /** CPU and memory of new agents. */
  defaultResources(): Resources
  putDefaultResources(resources: Partial<Resources>): Promise<void>
  putDefaultDisk(bytes: number): Promise<void>
  /** Private networks that agents may reach, as validated by the route. */
  openedNetworks(): string[]
  putOpenedNetworks(opened: readonly string[]): Promise<void>
  /** Roles that must have a second factor. */
  secondFactorRoles(): Role[]
  putSecondFactorRoles(required: readonly Role[]): Promise<void>

  /** Maximum of agents per creator; 0 means unlimited. */
  putAgentQuota(max: number): Promise<void>
  templateRepositories(): string[]
  putTemplateRepositories(repositories: readonly string[]): Promise<void>
  /** An empty address restores the default. */
  putMcpUrl(url: string): Promise<void>
  /** Name of the connected workspace, for the flag `slack`; null when disconnected. */
  noteSlackWorkspace(name: string | null): Promise<void>
  skillsLibrary(): SkillsLibrarySettings
  putSkillsLibrary(patch: Partial<SkillsLibrarySettings>): Promise<void>
  readonly monitoring: MonitoringSettings
  readonly usageSharing: UsageSharingSettings
  readonly modelPrices: ModelPriceSettings
  readonly retention: Retention

  readonly loops: Loop[]
  close(): Promise<void>
}

/** Loads the stored settings. The first start stores every retention window. */
export async function openSettings(deps: {
  db: Db
  ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>
  vault: Vault
  clock: Pick<Clock, 'now'>
  log: Log
  installed: Installed
}): Promise<Settings> {
  const { ephemeral, log, installed } = deps
  const values = await openValues({
    ...deps,
    defaults: {
      dispatch_breaker_enabled: installed.dispatchBreaker,
      email_auth_enabled: installed.mail,
    },
  })
  const providerKeys = createProviderKeys({ ...deps, environment: installed.providerKeys })
  await providerKeys.refresh()

  const refresh = async () => {
    await Promise.all([values.refresh(), providerKeys.refresh()])
  }
  const onChange = () =>
    void refresh().catch((error: unknown) => log.warn({ err: error }, 'settings could not be refreshed'))
  const subscriptions = await Promise.all(
    [settingsTopic, providerKeysTopic].map((topic) => ephemeral.subscribe(topic, onChange, onChange)),
  )

  const usageSharing = createUsageSharingSettings(values)
  const isOn: Record<FeatureFlag, () => boolean> = {
    voice: () => providerKeys.providerKey('voice') !== null,
    voip: () => installed.voip && providerKeys.providerKey('voice') !== null,
    workspace: () => true,
    chat_sessions: () => true,
    two_factor: () => true,
    public_links: () => true,
    paid_chat: () => installed.paidChat,
    usage_sharing: () => usageSharing.state().enabled,
    dispatch_breaker: () => values.value('dispatch_breaker_enabled'),
    email_login: () => installed.mail && values.value('email_auth_enabled'),
    slack: () => values.row('slack_workspace') !== null,
  }

  const settings: Settings = {
    value: values.value,
    providerKey: providerKeys.providerKey,
    providerKeys,
    featureFlags() {
      const flags = featureFlags.map((flag) => [flag, isOn[flag]()])
      // Contains every flag.
      return Object.fromEntries(flags) as Record<FeatureFlag, boolean>
    },

    list: () => values.rows().map(({ key, value, updated_at }) => ({ key, value, updated_at })),
    get(key) {
      const row = values.row(key)
      if (row) return { key, value: row.value, updated_at: row.updated_at }
      if (!definitionOf(key)) throw new Fault('setting_not_found')
      // Has a definition.
      return { key, value: String(values.defaultOf(key as SettingKey)), updated_at: null }
    },
    async put(key, value) {
      refuse(key)
      const problem = checkPlain(key, value)
      if (problem?.code === 'validation_error') throw invalidField(['value'], problem.message)
      if (problem) throw new Fault(problem.code, problem.message, { value })
      await values.write({ [key]: value })
      return settings.get(key)
    },
    async remove(key) {
      refuse(key)
      const removed = await values.remove([key])
      if (removed.length === 0 && !definitionOf(key)) throw new Fault('setting_not_found')
    },

    opsConfig() {
      return Object.fromEntries(opsKeys.map((key) => [key, opsSetting(key)]))
    },
    async putOps(input) {
      const known = Object.entries(input).filter(([key]) => isOps(key))
      const checked = known.map(([key, value]) => ({
        key,
        ...checkValue(definitions[key as SettingKey], value),
      }))
      const errors = checked.flatMap((each) =>
        'message' in each ? [{ key: each.key, message: each.message }] : [],
      )
      if (errors.length > 0) throw new Fault('invalid_ops_value', undefined, { errors })
      const entries = checked.flatMap((each) => ('value' in each ? [[each.key, String(each.value)]] : []))
      const keys = known.map(([key]) => key)
      const check = (after: ReadSetting) => {
        const crossed = crossedThresholds(keys, after)
        if (crossed.length === 0) return
        const errors = crossed.map(({ key, rule }) => ({ key, message: rule }))
        throw new Fault('invalid_ops_value', undefined, { errors })
      }
      if (entries.length > 0) await values.write(Object.fromEntries(entries), check)
      return {
        updated: keys,
        ignored: Object.keys(input).filter((key) => !isOps(key)),
      }
    },
    async resetOps() {
      const reset = opsKeys.filter((key) => definitions[key].group === 'ops')
      await values.remove(reset)
      return { reset, skipped: opsKeys.filter((key) => !reset.includes(key)) }
    },

    ceiling() {
      const { min = 1, max = 32 } = definitions.max_parallel_tasks_ceiling
      const key = 'max_parallel_tasks_ceiling'
      return { value: values.value(key), default: values.defaultOf(key), min, max }
    },
    putCeiling: (value) => values.write({ max_parallel_tasks_ceiling: String(value) }),
    defaultResources() {
      const cpu = cpuChoices.find((choice) => choice === values.value('agent_default_cpu')) ?? '2'
      return { cpu, memory: values.value('agent_default_memory') }
    },
    putDefaultResources: ({ cpu, memory }) =>
      values.write({
        ...(cpu ? { agent_default_cpu: cpu } : {}),
        ...(memory ? { agent_default_memory: memory } : {}),
      }),

    secondFactorRoles() {
      const stored = values.value('second_factor_required_roles').split(',')
      return roles.filter((role) => stored.includes(role))
    },
    putSecondFactorRoles: (required) =>
      values.write({ second_factor_required_roles: roles.filter((role) => required.includes(role)).join() }),

    putDefaultDisk: (bytes) => values.write({ agent_default_disk_bytes: String(bytes) }),
    openedNetworks: () => values.value('agent_opened_networks').split(',').filter(Boolean),
    putOpenedNetworks: (opened) => values.write({ agent_opened_networks: opened.join() }),
    putAgentQuota: (max) => values.write({ max_agents_creator: String(max) }),
    templateRepositories: () => values.value('template_repositories').split(',').filter(Boolean),
    putTemplateRepositories: (repositories) =>
      values.write({ template_repositories: [...new Set(repositories)].join() }),
    async putMcpUrl(url) {
      if (url === '') await values.remove(['mcp_url'])
      else await values.write({ mcp_url: url })
    },
    async noteSlackWorkspace(name) {
      if (name === null) await values.remove(['slack_workspace'])
      else await values.write({ slack_workspace: name })
    },
    skillsLibrary: () => ({
      auto_sync_enabled: values.value('skills_library_auto_sync_enabled'),
      auto_sync_interval_seconds: values.value('skills_library_auto_sync_interval_seconds'),
      auto_reinject_enabled: values.value('skills_library_auto_reinject_enabled'),
    }),
    async putSkillsLibrary(patch) {
      const entries = Object.entries(patch).filter(([, value]) => value !== undefined)
      const rows = entries.map(([key, value]) => [`skills_library_${key}`, String(value)])
      if (rows.length > 0) await values.write(Object.fromEntries(rows))
    },
    monitoring: createMonitoringSettings(values),
    usageSharing,
    modelPrices: createModelPriceSettings(values),
    retention: createRetention({ ...deps, values }),

    // Processes that share only the database get no change messages.
    loops: [{ name: 'settings-refresh', everySeconds: 10, everywhere: true, run: refresh }],
    async close() {
      await Promise.all(subscriptions.map((subscription) => subscription.close()))
    },
  }
  return settings

  function opsSetting(key: SettingKey): OpsSetting {
    const { description, min, max }: Definition = definitions[key]
    const [value, fallback] = [values.value(key), values.defaultOf(key)]
    return {
      value,
      default: fallback,
      description,
      ...(min === undefined ? {} : { min }),
      ...(max === undefined ? {} : { max }),
      is_default: value === fallback,
    }
  }
}

function isOps(key: string): boolean {
  return opsKeys.some((known) => known === key)
}

function refuse(key: string): void {
  const refusal = refuseKey(key)
  if (refusal) throw new Fault(refusal.code, refusal.detail, { route: refusal.route })
}

type UsageSharingSettings = {
  /** Off until a person decides. */
  state(): { enabled: boolean; consent_asked: boolean; dismissed: boolean }
  /** Stores the decision. It overrides an earlier dismissal. */
  put(enabled: boolean): Promise<void>
  dismiss(): Promise<void>
}

function createUsageSharingSettings(values: Values): UsageSharingSettings {
  return {
    state() {
      const answer = values.row('usage_sharing_enabled')?.value
      const dismissed = answer === undefined && values.row('usage_sharing_dismissed')?.value === 'true'
      return { enabled: answer === 'true', consent_asked: answer !== undefined || dismissed, dismissed }
    },
    put: (enabled) => values.write({ usage_sharing_enabled: String(enabled) }),
    dismiss: () => values.write({ usage_sharing_dismissed: 'true' }),
  }
}

/** The imported price table as text. The runs area parses it. */
type ModelPriceSettings = {
  /** `text` is empty and `updatedAt` null while no table is imported. */
  stored(): { text: string; updatedAt: string | null }
  put(text: string): Promise<void>
  remove(): Promise<void>
}

const modelPricesKey = 'model_prices'

function createModelPriceSettings(values: Values): ModelPriceSettings {
  return {
    stored() {
      const row = values.row(modelPricesKey)
      return { text: row?.value ?? '', updatedAt: row?.updated_at ?? null }
    },
    put: (text) => values.write({ [modelPricesKey]: text }),
    async remove() {
      await values.remove([modelPricesKey])
    },
  }
}
