import type { Client } from '@roost/contracts/client'
import type { User } from '@roost/contracts/identity/users'
import {
  deletePushDevice,
  getPushKey,
  listPushDevices,
  type PushDevice,
  putPushDevice,
} from '@roost/contracts/operations/push'
import type { Session } from '../../lib/session.ts'
import { deviceName } from './support.ts'
import { registerWorker } from './worker.ts'

/** `session`: the end of its token, which tells sessions apart. */
export type Holder = { user: string; session: string }
/** Whose notifications this browser shows, the id of the device at the platform, and the time of the last renewal. */
type Mark = Holder & { device: string; at: number }

const markKey = 'roost.push'
/** The platform forgets devices that were not opened for weeks. */
const renewalMs = 24 * 3600 * 1000

export function holderOf({ id }: Pick<User, 'id'>, session: Pick<Session, 'token'>): Holder {
  return { user: id, session: session.token()?.slice(-16) ?? '' }
}

export function readMark(): Mark | null {
  try {
    const mark: unknown = JSON.parse(localStorage.getItem(markKey) ?? 'null')
    // Written by `subscribe`.
    return mark as Mark | null
  } catch {
    return null
  }
}

/** Asks for the permission and subscribes. Null if the person or the browser refuses the permission. */
export async function turnOn(api: Client, holder: Holder): Promise<PushDevice | null> {
  if ((await Notification.requestPermission()) !== 'granted') return null
  return subscribe(api, holder)
}

export async function turnOff(api: Client): Promise<void> {
  const mark = readMark()
  if (mark) await api.call(deletePushDevice, { params: { id: mark.device } }).catch(() => {})
  await forgetDevice()
}

/** Ends the subscription in this browser. The platform deletes the device at the sign-out, or at its next message. */
export async function forgetDevice(): Promise<void> {
  localStorage.removeItem(markKey)
  const registration = await navigator.serviceWorker?.getRegistration()
  const subscription = await registration?.pushManager?.getSubscription()
  await subscription?.unsubscribe()
}

/** Keeps the notifications of this browser alive with the current session, and ends those of another person. */
export async function renewDevice(api: Client, holder: Holder): Promise<void> {
  const mark = readMark()
  if (!mark) return
  if (mark.user !== holder.user || Notification.permission !== 'granted') return forgetDevice()
  if (mark.session === holder.session && Date.now() - mark.at < renewalMs) return
  const devices = await api.call(listPushDevices, {})
  // Turned off on another device, or ended with a password change.
  if (!devices.some(({ id }) => id === mark.device)) return forgetDevice()
  await subscribe(api, holder)
}

async function subscribe(api: Client, holder: Holder): Promise<PushDevice> {
  const { public_key } = await api.call(getPushKey, {})
  const { pushManager } = await registerWorker()
  const applicationServerKey = bytesOf(public_key)
  let subscription = await pushManager.getSubscription()
  // Of another installation at this address, or from before a restored backup.
  if (subscription && !isSameKey(subscription.options.applicationServerKey, applicationServerKey)) {
    await subscription.unsubscribe()
    subscription = null
  }
  subscription ??= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })
  const { endpoint, keys } = subscription.toJSON()
  const device = await api.call(putPushDevice, {
    body: {
      name: deviceName(navigator.userAgent),
      endpoint: endpoint ?? '',
      keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' },
    },
  })
  localStorage.setItem(
    markKey,
    JSON.stringify({ ...holder, device: device.id, at: Date.now() } satisfies Mark),
  )
  return device
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

/** Null: the browser does not say. */
function isSameKey(key: ArrayBuffer | null, other: Uint8Array): boolean {
  if (key === null) return true
  const bytes = new Uint8Array(key)
  return bytes.length === other.length && bytes.every((byte, index) => byte === other[index])
}
