import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { JsonValue } from '../kit/json.ts'
import { Timestamp, TimestampInput } from '../kit/primitives.ts'

const tag = 'Account'
const human = { who: 'any', gate: 'human' } as const
const maxValueBytes = 16 * 1024
const utf8 = new TextEncoder()

/** A stored UI state of a person; any JSON. */
const PreferenceValue = JsonValue.refine(
  (value) => utf8.encode(JSON.stringify(value)).length <= maxValueBytes,
  'must be at most 16 KiB',
)

export const Preference = z
  .object({ key: z.string(), value: JsonValue, updated_at: Timestamp })
  .meta({ id: 'Preference' })
export type Preference = z.output<typeof Preference>

const PreferenceParams = z.object({
  key: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'must be 1 to 128 letters, digits, ".", "_", "-"'),
})

export const listPreferences = endpoint({
  id: 'listPreferences',
  method: 'GET',
  path: '/api/users/me/preferences',
  summary: 'List your preferences, ordered by key',
  tag,
  access: human,
  returns: z.array(Preference),
})

export const getPreference = endpoint({
  id: 'getPreference',
  method: 'GET',
  path: '/api/users/me/preferences/{key}',
  summary: 'Get a preference',
  tag,
  access: human,
  params: z.object({ key: z.string() }),
  returns: Preference,
  fails: ['not_found'],
})

export const putPreference = endpoint({
  id: 'putPreference',
  method: 'PUT',
  path: '/api/users/me/preferences/{key}',
  summary: 'Store a preference',
  description:
    '`base_updated_at` is the `updated_at` of the value that the change is based on. If the value has changed since, the reply is 409 with the current value.',
  tag,
  access: human,
  params: PreferenceParams,
  body: z.object({ value: PreferenceValue, base_updated_at: TimestampInput.nullish() }),
  returns: Preference,
  fails: ['human_only', 'stale_value', 'conflict'],
  audit: { type: 'configuration', action: 'put_preference' },
})

export const deletePreference = endpoint({
  id: 'deletePreference',
  method: 'DELETE',
  path: '/api/users/me/preferences/{key}',
  summary: 'Delete a preference',
  tag,
  access: human,
  params: z.object({ key: z.string() }),
  returns: z.object({ message: z.string(), key: z.string() }),
  fails: ['human_only', 'not_found'],
  audit: { type: 'configuration', action: 'delete_preference' },
})
