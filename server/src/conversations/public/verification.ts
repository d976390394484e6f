import { emailCode } from '@roost/contracts/identity/email-login'
import {
  clearFromPlace,
  type Place,
  type RateLimits,
  rateRules,
  useFromPlace,
} from '../../foundation/rate-limits/index.ts'
import { addressSubject, type Devices, type Origin } from '../../identity/devices/index.ts'
import { codeMail, createOutgoing, type EmailCodes } from '../../identity/email-login/index.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Mailer } from '../../ports/mail/port.ts'
import type { LinkRow } from './store.ts'
import type { Visitors } from './visitors.ts'

export type VerificationDeps = {
  db: Db
  log: Pick<Log, 'warn'>
  limits: Pick<RateLimits, 'use' | 'clear'>
  codes: Pick<EmailCodes, 'mint' | 'redeem'>
  devices: Devices
  /** Null when the platform sends no mail; then no address can be verified. */
  mail: Pick<Mailer, 'send'> | null
  visitors: Pick<Visitors, 'openSession'>
  publicUrl(): string
}

export type Verification = {
  /** Throws `email_not_required`, `not_configured`, `rate_limited`. */
  request(link: LinkRow, attempt: Origin & { email: string }): Promise<{ expires_in_seconds: number }>
  /**
   * `deviceMark`: a `Set-Cookie` header. Throws `email_not_required`, `invalid_code`, `too_many_attempts`, `rate_limited`.
   */
  confirm(
    link: LinkRow,
    attempt: Origin & { email: string; code: string },
  ): Promise<{ deviceMark: string; session_token: string; expires_at: string }>
  settled(): Promise<void>
}

/** Verifies visitors' addresses with mailed codes. */
export function createVerification(deps: VerificationDeps): Verification {
  const { db, limits, devices, codes, visitors, publicUrl } = deps
  const outgoing = createOutgoing(deps.log)

  /** A known device has its own count. Others at its address do not use it up. */
  const limitAddress = async ({ ip, device }: Place) => {
    if (device === null) await limits.use(rateRules.emailCodeAddress, ip)
  }

  return {
    async request(link, { email, ...origin }) {
      requireVerification(link)
      const { mail } = deps
      if (!mail) throw new Fault('not_configured', 'This platform sends no mail.')
      const place = devices.place(addressSubject(email), origin)
      await limitAddress(place)
      await useFromPlace(limits, rateRules.publicCode, email, place)
      const target = { purpose: purposeOf(link), email, place }
      const code = await db.atomically((tx) => codes.mint(tx, target))
      // The mail omits the link's address: the mailbox may be read by people who do not know the link.
      outgoing.start(() => mail.send(codeMail(email, code, publicUrl())))
      return { expires_in_seconds: emailCode.validSeconds }
    },

    async confirm(link, { email, code, ...origin }) {
      requireVerification(link)
      const place = devices.place(addressSubject(email), origin)
      await limitAddress(place)
      // Counted before the code is checked, so that concurrent guesses cannot exceed the limit.
      const subject = `${purposeOf(link)}:${email}`
      await useFromPlace(limits, rateRules.emailCodeAttempt, subject, place)
      const session = await db.atomically(async (tx) => {
        const isValid = await codes.redeem(tx, { purpose: purposeOf(link), email, place }, code)
        return isValid ? visitors.openSession(tx, link, email) : null
      })
      if (!session) throw new Fault('invalid_code')
      await clearFromPlace(limits, rateRules.emailCodeAttempt, subject, place)
      const deviceMark = devices.remember(addressSubject(email), origin)
      return { deviceMark, session_token: session.token, expires_at: session.expires_at }
    },

    settled: () => outgoing.settled(),
  }
}

function requireVerification(link: LinkRow): void {
  if (link.require_email === 0) throw new Fault('email_not_required')
}

/** A code is valid for one link only. */
function purposeOf(link: LinkRow): string {
  return `public-link:${link.id}`
}
