import type { Place } from '../../foundation/rate-limits/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import { type Clock, secondsLater } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import { isSameSecret } from '../../kit/same-secret.ts'

/** Where a request comes from: the client's address and its `Cookie` header. */
export type Origin = { ip: string; cookies?: string | undefined }

export const accountSubject = (id: string): string => `account:${id}`
export const addressSubject = (email: string): string => `address:${email}`

/** `subject`: what the device proved, an account or an e-mail address. */
export type Devices = {
  place(subject: string, origin: Origin): Place
  /** Returns a `Set-Cookie` header that marks the device as known. A device that is known keeps its id. */
  remember(subject: string, origin: Origin): string
}

const validSeconds = 180 * 24 * 3600

export function createDevices(deps: {
  vault: Pick<Vault, 'mac'>
  clock: Pick<Clock, 'now'>
  /** The public address of the platform. Its scheme decides whether the cookie needs TLS. */
  baseUrl: string
}): Devices {
  const { vault, clock, baseUrl } = deps
  /** One cookie for each subject, because people share browsers. */
  const cookieName = (subject: string) => `roost_device_${vault.mac(subject, 'device-name').slice(0, 10)}`
  const sign = (subject: string, id: string, expires: string) =>
    vault.mac(JSON.stringify([subject, id, expires]), 'device')

  const knownId = (subject: string, { cookies }: Origin): string | null => {
    const value = cookieValue(cookies ?? '', cookieName(subject))
    const [id, expires, signature, ...rest] = value?.split('.') ?? []
    if (!id || !expires || !signature || rest.length > 0) return null
    if (!isSameSecret(signature, sign(subject, id, expires))) return null
    return Number(expires) * 1000 > clock.now().getTime() ? id : null
  }

  return {
    place: (subject, origin) => ({ ip: origin.ip, device: knownId(subject, origin) }),

    remember(subject, origin) {
      const id = knownId(subject, origin) ?? newId()
      const expires = String(Math.floor(secondsLater(clock.now(), validSeconds).getTime() / 1000))
      const value = `${id}.${expires}.${sign(subject, id, expires)}`
      const secure = baseUrl.startsWith('https:') ? '; Secure' : ''
      return `${cookieName(subject)}=${value}; Path=/api; Max-Age=${validSeconds}; HttpOnly; SameSite=Strict${secure}`
    },
  }
}

function cookieValue(cookies: string, name: string): string | null {
  for (const cookie of cookies.split(';')) {
    const [key, value] = cookie.trim().split('=', 2)
    if (key === name) return value ?? null
  }
  return null
}
