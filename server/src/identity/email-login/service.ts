import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Mailer } from '../../ports/mail/port.ts'
import type { AllowList } from '../allow-list/index.ts'
import type { EmailCodes } from '../codes/index.ts'
import type { Entrance, SecondStep } from '../sessions/index.ts'
import type { Account, Users } from '../users/index.ts'
import { createOutgoing } from './outgoing.ts'
import { codeMail } from './words.ts'

export type EmailLoginDeps = {
  db: Db
  log: Pick<Log, 'warn'>
  limits: RateLimits
  users: Pick<Users, 'holderOf' | 'create'>
  allowList: Pick<AllowList, 'admit' | 'allowAddress'>
  codes: Pick<EmailCodes, 'mint' | 'redeem'>
  sessions: { secondStep: Pick<SecondStep, 'enter'> }
  /** Null: no mail is sent, and nobody signs in by it. */
  mail: Pick<Mailer, 'send'> | null
  settings: { emailLogin(): boolean; accessRequests(): boolean }
  baseUrl: string
}

export type EmailLogin = {
  /** What `GET /api/auth/mode` tells. */
  ways(): { emailLogin: boolean; accessRequests: boolean }
  /**
   * Resolves alike, and as soon, whoever asks for whichever address; what it leads to goes on afterwards.
   * Throws `email_login_disabled`, and `rate_limited` for the client's address.
   */
  requestCode(wanted: { email: string; ip: string }): Promise<void>
  /**
   * Throws `invalid_code` for every address and code that do not open an account, `too_many_attempts`,
   * `rate_limited`, `email_login_disabled`; `account_suspended` once the code was right.
   */
  verify(presented: { email: string; code: string; ip: string }): Promise<Entrance>
  /** Whether the address was on the list already. Throws `access_requests_disabled`, `rate_limited`. */
  requestAccess(wanted: { email: string; ip: string }): Promise<{ alreadyRegistered: boolean }>
  /** Resolves when no mail is on its way any more. */
  settled(): Promise<void>
}

const purpose = 'sign-in'

export function createEmailLogin(deps: EmailLoginDeps): EmailLogin {
  const { db, log, limits, users, allowList, codes, sessions, mail, settings, baseUrl } = deps
  const outgoing = createOutgoing(log)

  const mailer = () => {
    if (!mail || !settings.emailLogin()) throw new Fault('email_login_disabled')
    return mail
  }

  /** Above its limit an address gets no mail, and nobody is told. */
  const mayAskAgain = async (email: string): Promise<boolean> => {
    try {
      await limits.use(rateRules.emailCodeRequest, email)
      return true
    } catch (error) {
      if (isFault(error, 'rate_limited')) return false
      throw error
    }
  }

  const sendCode = async (to: Pick<Mailer, 'send'>, email: string) => {
    if (!(await mayAskAgain(email))) return
    const code = await db.atomically(async (tx) => {
      const holder = await users.holderOf(tx, email)
      return (await allowList.admit(tx, email, holder)) ? codes.mint(tx, purpose, email) : null
    })
    if (code !== null) await to.send(codeMail(email, code, baseUrl))
  }

  /** Null unless the address may sign in at this moment and the code is right. */
  const redeem = (email: string, code: string): Promise<Account | null> =>
    db.atomically(async (tx) => {
      const holder = await users.holderOf(tx, email)
      // Asked again: a code may be older than the removal of its address.
      const entry = await allowList.admit(tx, email, holder)
      const isRight = await codes.redeem(tx, purpose, email, entry ? code : null)
      if (!entry || !isRight) return null
      return holder ?? users.create(tx, { email, role: entry.default_role })
    })

  return {
    ways: () => ({
      emailLogin: mail !== null && settings.emailLogin(),
      accessRequests: settings.accessRequests(),
    }),

    async requestCode({ email, ip }) {
      const to = mailer()
      await limits.use(rateRules.emailCodeAddress, ip)
      outgoing.start(() => sendCode(to, email))
    },

    async verify({ email, code, ip }) {
      mailer()
      await limits.use(rateRules.emailCodeAddress, ip)
      // Counted before the code is looked at: of many guesses at once no more than the limit are tried.
      await limits.use(rateRules.emailCodeAttempt, email)
      const account = await redeem(email, code)
      if (!account) throw new Fault('invalid_code')
      await limits.clear(rateRules.emailCodeAttempt, email)
      return sessions.secondStep.enter(account, { mode: 'email' })
    },

    async requestAccess({ email, ip }) {
      if (!settings.accessRequests()) throw new Fault('access_requests_disabled')
      await limits.use(rateRules.accessRequest, ip)
      return { alreadyRegistered: !(await allowList.allowAddress(db, email, null, 'access_request')) }
    },

    settled: () => outgoing.settled(),
  }
}
