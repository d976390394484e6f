import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Id, Timestamp } from '../kit/primitives.ts'

const tag = 'Account'
const human = { who: 'any', gate: 'human' } as const

export const mostPushDevices = 10
/** A device whose app was not opened for this long gets no more notifications. */
export const pushDeviceDays = 60

const Endpoint = z
  .string()
  .max(1024)
  .regex(/^https:\/\/[^\s/?#@]+\/[\x21-\x7e]*$/, 'must be an https address without a user name')
  .refine((value) => URL.canParse(value), 'must be an https address without a user name')

const base64url = (characters: number, what: string) =>
  z.string().regex(new RegExp(`^[A-Za-z0-9_-]{${characters}}$`), `must be ${what} in base64url`)

/** A browser that shows notifications of the inbox. Its address and keys are never returned. */
export const PushDevice = z
  .object({
    id: Id,
    name: z.string(),
    created_at: Timestamp,
    /** When the app was last opened on it. */
    seen_at: Timestamp,
    last_sent_at: Timestamp.nullable(),
    /** Why the last notification did not arrive; null if it did. */
    last_error: z.string().nullable(),
  })
  .meta({ id: 'PushDevice' })
export type PushDevice = z.output<typeof PushDevice>

export const PutPushDevice = z.object({
  name: z.string().trim().min(1).max(80),
  endpoint: Endpoint,
  keys: z.object({
    p256dh: base64url(87, '65 bytes'),
    auth: base64url(22, '16 bytes'),
  }),
})
export type PutPushDevice = z.output<typeof PutPushDevice>

/** The text of a notification, as the service worker reads it. `item`: null for a test. */
export const PushPayload = z.object({
  title: z.string(),
  body: z.string(),
  item: Id.nullable(),
})
export type PushPayload = z.output<typeof PushPayload>

export const getPushKey = endpoint({
  id: 'getPushKey',
  method: 'GET',
  path: '/api/push-key',
  summary: 'Get the public key for subscriptions to notifications',
  description:
    'The `applicationServerKey` for `PushManager.subscribe`, in base64url. The installation creates it once.',
  tag,
  access: human,
  returns: z.object({ public_key: z.string() }),
  fails: ['human_only'],
})

export const listPushDevices = endpoint({
  id: 'listPushDevices',
  method: 'GET',
  path: '/api/users/me/push-devices',
  summary: 'List your devices with notifications, newest first',
  tag,
  access: human,
  returns: z.array(PushDevice),
  fails: ['human_only'],
})

export const putPushDevice = endpoint({
  id: 'putPushDevice',
  method: 'PUT',
  path: '/api/users/me/push-devices',
  summary: 'Turn on notifications for this device, or renew them',
  description: `Stores the browser's Web Push subscription. A subscription that is stored already is renewed; it belongs to the account and the session that stored it last. It ends with the sign-out of this session, and after ${pushDeviceDays} days without a renewal. An account has at most ${mostPushDevices} devices: another one replaces the one that was not opened for longest.`,
  tag,
  access: human,
  body: PutPushDevice,
  bodyLimit: 16 * 1024,
  returns: PushDevice,
  fails: ['human_only', 'rate_limited'],
  audit: { type: 'configuration', action: 'put_push_device' },
})

const PushDeviceParams = z.object({ id: z.string() })

export const deletePushDevice = endpoint({
  id: 'deletePushDevice',
  method: 'DELETE',
  path: '/api/users/me/push-devices/{id}',
  summary: 'Turn off notifications for one of your devices',
  tag,
  access: human,
  params: PushDeviceParams,
  returns: z.object({ message: z.string(), id: z.string() }),
  fails: ['human_only', 'not_found'],
  audit: { type: 'configuration', action: 'delete_push_device' },
})

export const testPushDevice = endpoint({
  id: 'testPushDevice',
  method: 'POST',
  path: '/api/users/me/push-devices/{id}/test',
  summary: 'Send a test notification to one of your devices',
  description:
    '`accepted`: the push service took the notification. Otherwise `reason` says why not. A device whose subscription has ended is deleted.',
  tag,
  access: human,
  params: PushDeviceParams,
  returns: z.object({ accepted: z.boolean(), reason: z.string().nullable() }),
  fails: ['human_only', 'not_found', 'rate_limited'],
  audit: { type: 'configuration', action: 'test_push_device' },
})
