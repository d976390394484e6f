import type { ErrorCode } from '@roost/contracts/kit/errors'
import { parseModelOverride } from '@roost/contracts/kit/model'
import { type Definition, definitionOf, type SettingKey, thresholdPairs } from './definitions.ts'

type Value = string | number | boolean

/** Parses a stored text. An invalid one is undefined and counts as not stored. */
export function readValue(definition: Definition, text: string): Value | undefined {
  const checked = checkValue(definition, text)
  return 'value' in checked ? checked.value : undefined
}

/** Parses a value of a request, or returns the rule that it breaks. Accepts numbers and booleans as text. */
export function checkValue(definition: Definition, input: Value): { value: Value } | { message: string } {
  const { kind, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = definition
  if (kind === 'text') return typeof input === 'string' ? { value: input } : { message: 'must be text' }
  if (kind === 'boolean') {
    if (input === true || input === 'true') return { value: true }
    if (input === false || input === 'false') return { value: false }
    return { message: 'must be true or false' }
  }
  const number = typeof input === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(input) ? Number(input) : input
  const noun = kind === 'integer' ? 'an integer' : 'a number'
  if (
    typeof number !== 'number' ||
    !Number.isFinite(number) ||
    (kind === 'integer' && !Number.isInteger(number))
  ) {
    return { message: `must be ${noun}` }
  }
  if (number < min || number > max) return { message: `must be ${noun} from ${min} to ${max}` }
  return { value: number }
}

export type Crossed = { key: SettingKey; rule: string }

/**
 * Returns changed thresholds that put a warning above its critical value. `after` reads values as they will be after the
 * change; `nameOf` returns the caller's name of a key. Ignores pairs that the change does not touch.
 */
export function crossedThresholds(
  changed: readonly string[],
  after: (key: (typeof thresholdPairs)[number][number]) => number,
  nameOf: (key: SettingKey) => string = (key) => key,
): Crossed[] {
  return thresholdPairs.flatMap(([warning, critical]): Crossed[] => {
    if (after(warning) <= after(critical)) return []
    if (changed.includes(warning))
      return [{ key: warning, rule: `must not be above ${nameOf(critical)} (${after(critical)})` }]
    if (changed.includes(critical))
      return [{ key: critical, rule: `must not be below ${nameOf(warning)} (${after(warning)})` }]
    return []
  })
}

/** `route` changes the value; null for a secret that only the environment of the platform contains. */
export type Refusal = { code: ErrorCode; route: string | null; detail?: string }

/** Returns why a key, in any letter case, cannot be written as a plain setting; null when it can. */
export function refuseKey(key: string): Refusal | null {
  const name = key.toLowerCase()
  const dedicated =
    definitionOf(name)?.route ??
    routeNames[name.replaceAll('_', '-')] ??
    dedicatedShapes.find(([pattern]) => pattern.test(name))?.[1]
  if (dedicated) return { code: 'dedicated_setting_key', route: dedicated }
  if (definitionOf(name)) return null
  const [, own] = /^(?:roost_)?(.+)$/.exec(name) ?? []
  if (own && ownSecrets.has(own)) {
    const variable = `ROOST_${own.toUpperCase()}`
    const detail = `"${key}" is a secret of the platform. Set ${variable} in its environment.`
    return { code: 'secret_setting_key', route: null, detail }
  }
  return secretShape.test(name)
    ? { code: 'secret_setting_key', route: '/api/settings/api-keys/{provider}' }
    : null
}

/** Returns the rule that a plain setting breaks; null for a valid or unknown one. */
export function checkPlain(key: string, text: string): { code: ErrorCode; message: string } | null {
  const definition = definitionOf(key)
  if (!definition) return null
  const checked = checkValue(definition, text)
  if ('message' in checked) return { code: 'validation_error', message: checked.message }
  if (key === 'platform_default_model' && parseModelOverride(text) === undefined) {
    return { code: 'invalid_model', message: `"${text}" is not a model id.` }
  }
  if (key === 'public_chat_url' && text !== '' && !(/^https?:\/\//.test(text) && URL.canParse(text))) {
    return { code: 'validation_error', message: 'must be an address that starts with http:// or https://' }
  }
  return null
}

/** Endings from the specification, also as whole keys. `token_display_name` and `sort_key` are plain settings. */
const secretShape = /(^|_)(api_key|token|secret|pat|password|credentials)$/

/** Environment variables, without `ROOST_`, that contain a secret and lack such an ending. */
const ownSecrets = new Set(['encryption_key', 'database_url', 'redis_url', 'mail_url'])

/** Paths below `/api/settings/` that would otherwise be keys in `/api/settings/{key}`. */
const routeNames: Record<string, string> = {
  'agent-defaults': '/api/settings/agent-defaults/resources',
  'agent-quotas': '/api/settings/agent-quotas',
  'api-keys': '/api/settings/api-keys/{provider}',
  'email-whitelist': '/api/settings/email-whitelist',
  'feature-flags': '/api/settings/feature-flags',
  'max-parallel-tasks-ceiling': '/api/settings/max-parallel-tasks-ceiling',
  'mcp-url': '/api/settings/mcp-url',
  'model-prices': '/api/settings/model-prices',
  retention: '/api/settings/ops/config',
  'skills-library': '/api/settings/skills-library',
  slack: '/api/settings/slack',
  'slack-bot-token': '/api/settings/slack',
  'slack-signing-secret': '/api/settings/slack',
  'slack-workspace': '/api/settings/slack',
  'telemetry-sharing': '/api/settings/telemetry-sharing',
  templates: '/api/settings/templates',
}

/** Refused by pattern, which includes the windows and consents of other versions. */
const dedicatedShapes: [RegExp, string][] = [
  [/_retention_days$/, '/api/settings/ops/config'],
  [/^(telemetry|usage)[_-]sharing/, '/api/settings/telemetry-sharing'],
]
