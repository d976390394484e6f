import { emailCode } from '@roost/contracts/identity/email-login'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import type { EmailCodes } from '../../identity/codes/index.ts'
import { codeMail, createOutgoing } from '../../identity/email-login/index.ts'
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
  /** Null: no mail is sent, and no address can be confirmed. */
  mail: Pick<Mailer, 'send'> | null
  visitors: Pick<Visitors, 'openSession'>
  publicUrl(): string
}

export type Verification = {
  /** Throws `email_not_required`, `not_configured`, `rate_limited`. */
  request(link: LinkRow, email: string): Promise<{ expires_in_seconds: number }>
  /** Throws `email_not_required`, `invalid_code`, `too_many_attempts`, `rate_limited`. */
  confirm(
    link: LinkRow,
    presented: { email: string; code: string; ip: string },
  ): Promise<{ session_token: string; expires_at: string }>
  settled(): Promise<void>
}

/** Addresses that visitors confirm with a code from a mail. */
export function createVerification(deps: VerificationDeps): Verification {
  const { db, limits, codes, visitors, publicUrl } = deps
  const outgoing = createOutgoing(deps.log)

  return {
    async request(link, email) {
      refuseOpen(link)
      const { mail } = deps
      if (!mail) throw new Fault('not_configured', 'This platform sends no mail.')
      await limits.use(rateRules.publicCode, email)
      const code = await db.atomically((tx) => codes.mint(tx, purposeOf(link), email))
      // The address of the link stays out of the mail: it may be read where the link was not given.
      outgoing.start(() => mail.send(codeMail(email, code, publicUrl())))
      return { expires_in_seconds: emailCode.validSeconds }
    },

    async confirm(link, { email, code, ip }) {
      refuseOpen(link)
      await limits.use(rateRules.emailCodeAddress, ip)
      // Counted before the code is looked at: of many guesses at once no more than the limit are tried.
      const subject = `${purposeOf(link)}:${email}`
      await limits.use(rateRules.emailCodeAttempt, subject)
      const opened = await db.atomically(async (tx) => {
        const isRight = await codes.redeem(tx, purposeOf(link), email, code)
        return isRight ? visitors.openSession(tx, link, email) : null
      })
      if (!opened) throw new Fault('invalid_code')
      await limits.clear(rateRules.emailCodeAttempt, subject)
      return { session_token: opened.token, expires_at: opened.expires_at }
    },

    settled: () => outgoing.settled(),
  }
}

function refuseOpen(link: LinkRow): void {
  if (link.require_email === 0) throw new Fault('email_not_required')
}

/** A code for one link opens no other. */
function purposeOf(link: LinkRow): string {
  return `public-link:${link.id}`
}
