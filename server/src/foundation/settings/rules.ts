import type { ErrorCode } from '@roost/contracts/kit/errors'
import { parseModelOverride } from '@roost/contracts/kit/model'
import { type Definition, definitionOf } from './definitions.ts'

type Value = string | number | boolean

/** What a stored text means; undefined when it means nothing, which then counts as not stored. */
export function readValue(definition: Definition, text: string): Value | undefined {
  const checked = checkValue(definition, text)
  return 'value' in checked ? checked.value : undefined
}

/** The value of what a request gives, or what is wrong with it. Numbers and booleans may come as text. */
export function checkValue(definition: Definition, given: Value): { value: Value } | { message: string } {
  const { kind, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = definition
  if (kind === 'text') return typeof given === 'string' ? { value: given } : { message: 'must be text' }
  if (kind === 'boolean') {
    if (given === true || given === 'true') return { value: true }
    if (given === false || given === 'false') return { value: false }
    return { message: 'must be true or false' }
  }
  const number = typeof given === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(given) ? Number(given) : given
  const word = kind === 'integer' ? 'an integer' : 'a number'
  if (
    typeof number !== 'number' ||
    !Number.isFinite(number) ||
    (kind === 'integer' && !Number.isInteger(number))
  ) {
    return { message: `must be ${word}` }
  }
  if (number < min || number > max) return { message: `must be ${word} from ${min} to ${max}` }
  return { value: number }
}

export type Refusal = { code: ErrorCode; route: string }

/** Whether a key is no business of the plain route, and which route it is. */
export function refuseKey(key: string): Refusal | null {
  const name = key.toLowerCase()
  const dedicated = definitionOf(name)?.route ?? dedicatedRoutes.find(([pattern]) => pattern.test(name))?.[1]
  if (dedicated) return { code: 'dedicated_setting_key', route: dedicated }
  if (definitionOf(name)) return null
  if (!secretShape.test(name.replaceAll(/[.-]/g, '_'))) return null
  const route = name.startsWith('slack') ? '/api/settings/slack' : '/api/settings/api-keys/{provider}'
  return { code: 'secret_setting_key', route }
}

/** What is wrong with the text of a plain setting that Roost reads; null when nothing is. */
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

/** Names that hold a secret: whoever stores one here would find it in lists and logs. */
const secretShape =
  /(^|_)(secret|secrets|password|passwd|passphrase|pat|jwt|credential|credentials|token|bearer|dsn)(_|$)|api_?key|private_?key|access_?key|secret_?key|signing_?key|encryption|auth_?token|_key$/

/** Keys that are changed elsewhere, also those whose route is the only one that knows them. */
const dedicatedRoutes: [RegExp, string][] = [
  [/^ops[_-]|_retention_days$|^retention$/, '/api/settings/ops/config'],
  [/^feature[_-]flags$/, '/api/settings/feature-flags'],
  [/^max-parallel-tasks-ceiling$/, '/api/settings/max-parallel-tasks-ceiling'],
  [/^agent-defaults/, '/api/settings/agent-defaults/resources'],
  [/^skills[_-]library/, '/api/settings/skills-library'],
  [/^agent[_-]quotas|^max_agents_/, '/api/settings/agent-quotas'],
  [/^templates$|^template_repositories$/, '/api/settings/templates'],
  [/^api-keys$/, '/api/settings/api-keys/{provider}'],
  [/^slack$|^slack_(signing_secret|bot_token|workspace)$/, '/api/settings/slack'],
  [/^email[_-]whitelist$/, '/api/settings/email-whitelist'],
  [/^mcp[_-]url$/, '/api/settings/mcp-url'],
  [/^(telemetry|usage)[_-]sharing/, '/api/settings/telemetry-sharing'],
]
