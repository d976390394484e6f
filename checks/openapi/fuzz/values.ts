/** Values for a JSON Schema: valid ones, and ones that usually break a rule. */
import { type Json, resolve } from '../document.ts'
import type { Random } from './random.ts'

/** Texts for the patterns and formats of the document; the first that fits is the value. */
const samples = [
  'abc',
  'a1',
  '2g',
  '2030-01-02T03:04:05.000Z',
  '2030-01-02',
  'ada@example.org',
  'owner/repo',
  '+15550123456',
  `AC${'0a'.repeat(16)}`,
  `0x${'0a'.repeat(20)}`,
  'eip155:8453',
  'C0123456789',
  'session-mark-016',
  'xoxb-1-abcdefghijkl',
  'abcdefghijklmnopqrstuvwx',
  '5',
  'https://push.example.org/send/1',
  // A point on P-256.
  'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  'BTBZMqHH6r4Tts7J_aSIgg',
]

/** Valid values for fields that need more than their schema says. */
const meaningful: Record<string, unknown> = {
  cron_expression: '0 3 * * *',
  timezone: 'UTC',
  model: 'sonnet',
  email: 'ada@example.org',
  // A synchronous run could wait for minutes.
  async_mode: true,
}

export type Values = {
  /** Returns a valid value. Some come from `known`, which returns existing ids by the name of a field. */
  fitting(schema: Json, field?: string): unknown
  /** Returns a value that usually breaks a rule of the schema. `async_mode` stays true. */
  breaking(schema: Json, field?: string): unknown
}

export function createValues(
  document: Json,
  random: Random,
  known: (field: string) => string | undefined,
): Values {
  const inPlace = (schema: Json): Json => {
    const { $ref, ...rest } = schema
    return typeof $ref === 'string' ? { ...resolve(document, $ref), ...rest } : schema
  }

  function fitting(schema: Json, field = '', depth = 0): unknown {
    const json = inPlace(schema)
    if (field in meaningful) return meaningful[field]
    if ('const' in json) return json.const
    if (Array.isArray(json.enum)) return random.pick(json.enum)
    const choices = (json.anyOf ?? json.oneOf) as Json[] | undefined
    if (choices) return fitting(random.pick(choices), field, depth)
    const parts = json.allOf as Json[] | undefined
    if (parts) return allOf(parts, field, depth)
    const types = [json.type ?? 'object'].flat() as string[]
    switch (random.pick(types)) {
      case 'string':
        return text(json, field)
      case 'integer':
        return Math.round(number(json))
      case 'number':
        return number(json)
      case 'boolean':
        return random.chance(0.5)
      case 'null':
        return null
      case 'array':
        return list(json, field, depth)
      default:
        return object(json, depth)
    }
  }

  function allOf(parts: Json[], field: string, depth: number): unknown {
    return fitting(Object.assign({}, ...parts.map(inPlace)), field, depth)
  }

  function text(json: Json, field: string): string {
    const { minLength = 0, maxLength = 200, pattern } = json as TextRules
    const fits = (value: string) =>
      value.length >= minLength &&
      value.length <= maxLength &&
      (pattern === undefined || new RegExp(pattern, 'u').test(value))
    const existing = known(field)
    if (existing !== undefined && fits(existing) && random.chance(0.7)) return existing
    if (json.format === 'date-time') return '2030-01-02T03:04:05.000Z'
    const value = samples.find(fits)
    if (value !== undefined && pattern !== undefined) return value
    if (pattern !== undefined) throw new Error(`No sample fits ${pattern}: add one to "samples".`)
    const length = random.integer(minLength, Math.min(maxLength, minLength + 20))
    return Array.from({ length }, () => random.pick([...'abcdefghijklmnopqrstuvwxyz 0123456789äß漢'])).join(
      '',
    )
  }

  function number(json: Json): number {
    const { minimum, maximum, exclusiveMinimum, multipleOf } = json as NumberRules
    const least = minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + 1)
    const most = Math.max(least, maximum ?? least + 1000)
    const value = random.chance(0.3) ? random.pick([least, most]) : random.integer(Math.ceil(least), most)
    return multipleOf === undefined ? value : Math.ceil(value / multipleOf) * multipleOf
  }

  function list(json: Json, field: string, depth: number): unknown[] {
    const {
      items = {},
      minItems = 0,
      maxItems = 3,
    } = json as { items?: Json; minItems?: number; maxItems?: number }
    const length = depth > 4 ? minItems : random.integer(minItems, Math.max(minItems, Math.min(maxItems, 3)))
    return Array.from({ length }, () => fitting(items, field.replace(/s$/, ''), depth + 1))
  }

  function object(json: Json, depth: number): Json {
    const { properties = {}, required = [], additionalProperties } = json as ObjectRules
    const isFull = random.chance(0.4) && depth < 4
    const named = Object.entries(properties).filter(
      ([name]) => required.includes(name) || name === 'async_mode' || (isFull && random.chance(0.6)),
    )
    const made: Json = Object.fromEntries(
      named.map(([name, schema]) => [name, fitting(schema, name, depth + 1)]),
    )
    if (typeof additionalProperties === 'object' && isFull)
      made.extra = fitting(additionalProperties, 'extra', depth + 1)
    return made
  }

  function breaking(schema: Json, field = ''): unknown {
    const value = fitting(schema, field)
    if (typeof value !== 'object' || value === null || random.chance(0.15)) return strange(value)
    return keepShort(damaged(structuredClone(value) as Json))
  }

  /** Removes, adds or replaces one part of a value, at any depth. */
  function damaged(value: Json | unknown[]): unknown {
    const keys = Object.keys(value)
    const key = keys.length > 0 ? random.pick(keys) : null
    const parts = value as Json
    const inner = key === null ? null : parts[key]
    if (key === null || random.chance(0.15))
      return { ...value, [random.pick(['extra', '__proto__', ''])]: strange(1) }
    if (random.chance(0.2)) delete parts[key]
    else if (typeof inner === 'object' && inner !== null && random.chance(0.6))
      parts[key] = damaged(inner as Json)
    else parts[key] = strange(inner)
    return value
  }

  function strange(value: unknown): unknown {
    return random.pick<unknown>([
      null,
      true,
      '',
      ' ',
      -1,
      0,
      1e21,
      0.5,
      String(value),
      [],
      {},
      [value],
      'x'.repeat(random.pick([300, 5000, 200_000])),
      'a\u0000b',
      '\ud800',
      '../../etc/passwd',
      "'; drop table agents; --",
      '{{7*7}}',
      '\u202e\u{1f4a5}e\u0301',
    ])
  }

  /** A broken request must not wait for a run either. */
  function keepShort(value: unknown): unknown {
    return typeof value === 'object' && value !== null && 'async_mode' in value
      ? { ...value, async_mode: true }
      : value
  }

  return { fitting, breaking }
}

type TextRules = { minLength?: number; maxLength?: number; pattern?: string }
type NumberRules = { minimum?: number; maximum?: number; exclusiveMinimum?: number; multipleOf?: number }
type ObjectRules = {
  properties?: Record<string, Json>
  required?: string[]
  additionalProperties?: Json | boolean
}
