import { generateSecret, generateURI, verifySync } from 'otplib'
import encodeQR from 'qr'

/** SHA-1, 6 digits, 30 seconds: the defaults of authenticator apps. */
const periodSeconds = 30

export type Enrolment = { secret: string; otpauth_uri: string; qr_svg: string }

/** 160 bits in base32. */
export function newTotpSecret(): string {
  return generateSecret({ length: 20 })
}

/** Returns the secret as text, URI and QR code for an authenticator app. */
export function enrolmentOf(secret: string, username: string): Enrolment {
  const otpauth_uri = generateURI({ issuer: 'Roost', label: username, secret })
  return { secret, otpauth_uri, qr_svg: encodeQR(otpauth_uri, 'svg') }
}

/** Returns the time step of a code, at most one step from now, or null if the code is wrong. */
export function stepOf(secret: string, code: string, now: Date): number | null {
  if (!/^\d{6}$/.test(code)) return null
  const epoch = Math.floor(now.getTime() / 1000)
  const result = verifySync({ secret, token: code, epoch, epochTolerance: periodSeconds })
  return result.valid && 'timeStep' in result ? result.timeStep : null
}
