import {
  clearFromPlace,
  type Place,
  type RateLimits,
  rateRules,
  useFromPlace,
} from '../../foundation/rate-limits/index.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Mailer } from '../../ports/mail/port.ts'
import { accountSubject, addressSubject, type Devices, type Origin } from '../devices/index.ts'
import type { SecondStep, SignInOutcome } from '../sessions/index.ts'
import type { Account, AllowList, Users } from '../users/index.ts'
import { codeMail } from './code-mail.ts'
import type { EmailCodes } from './codes.ts'
import { createOutgoing } from './outgoing.ts'

export type EmailLoginDeps = {
  db: Db
  log: Pick<Log, 'warn'>
  limits: RateLimits
  devices: Pick<Devices, 'place'>
  users: Pick<Users, 'holderOf' | 'create'>
  allowList: Pick<AllowList, 'admit' | 'allowAddress'>
  codes: Pick<EmailCodes, 'mint' | 'redeem'>
  sessions: { secondStep: Pick<SecondStep, 'enter'> }
  /** Null: no mail is sent, and sign-in by e-mail is off. */
  mail: Pick<Mailer, 'send'> | null
  settings: { emailLogin(): boolean; accessRequests(): boolean }
  baseUrl: string
}

export type EmailLogin = {
  /** The values of `GET /api/auth/mode`. */
  methods(): { emailLogin: boolean; accessRequests: boolean }
  /**
   * Resolves the same way and equally fast for every address; the mail is sent afterwards. Throws
   * `email_login_disabled`, and `rate_limited` for the client's IP address.
   */
  requestCode(request: Origin & { email: string }): Promise<void>
  /**
   * Throws `invalid_code` for every wrong pair of address and code, `too_many_attempts`, `rate_limited`,
   * `email_login_disabled`, and `account_suspended` only after the right code.
   */
  verify(presented: Origin & { email: string; code: string }): Promise<SignInOutcome>
  /** Lists the address, unless it is listed already. Throws `access_requests_disabled`, `rate_limited`. */
  requestAccess(request: { email: string; ip: string }): Promise<{ alreadyRegistered: boolean }>
  /** Resolves when all mail is sent. */
  settled(): Promise<void>
}

const purpose = 'sign-in'

export function createEmailLogin(deps: EmailLoginDeps): EmailLogin {
  const { db, log, limits, devices, users, allowList, codes, sessions, mail, settings, baseUrl } = deps
  const outgoing = createOutgoing(log)

  const mailer = () => {
    if (!mail || !settings.emailLogin()) throw new Fault('email_login_disabled')
    return mail
  }

  /** The place of a request, which is a known device if the account of the address signed in there before. */
  const placeOf = async (email: string, origin: Origin): Promise<Place> => {
    const holder = await users.holderOf(db, email)
    return devices.place(holder ? accountSubject(holder.id) : addressSubject(email), origin)
  }

  /** A known device has its own count. Others at its address do not use it up. */
  const limitAddress = async ({ ip, device }: Place) => {
    if (device === null) await limits.use(rateRules.emailCodeAddress, ip)
  }

  /** An address above its limit gets no mail, without an error. */
  const isWithinLimit = async (email: string, place: Place): Promise<boolean> => {
    try {
      await useFromPlace(limits, rateRules.emailCodeRequest, email, place)
      return true
    } catch (error) {
      if (isFault(error, 'rate_limited')) return false
      throw error
    }
  }

  const sendCode = async (to: Pick<Mailer, 'send'>, email: string, place: Place) => {
    if (!(await isWithinLimit(email, place))) return
    const code = await db.atomically(async (tx) => {
      const holder = await users.holderOf(tx, email)
      return (await allowList.admit(tx, email, holder)) ? codes.mint(tx, { purpose, email, place }) : null
    })
    if (code !== null) await to.send(codeMail(email, code, baseUrl))
  }

  /** Returns null unless the address may sign in now and the code is right. */
  const redeem = (email: string, code: string, place: Place): Promise<Account | null> =>
    db.atomically(async (tx) => {
      const holder = await users.holderOf(tx, email)
      // Checked again: the address may have been removed after the code was sent.
      const entry = await allowList.admit(tx, email, holder)
      const isRight = await codes.redeem(tx, { purpose, email, place }, entry ? code : null)
      if (!entry || !isRight) return null
      return holder ?? users.create(tx, { email, role: entry.default_role })
    })

  return {
    methods: () => ({
      emailLogin: mail !== null && settings.emailLogin(),
      accessRequests: settings.accessRequests(),
    }),

    async requestCode({ email, ...origin }) {
      const to = mailer()
      const place = await placeOf(email, origin)
      await limitAddress(place)
      outgoing.start(() => sendCode(to, email, place))
    },

    async verify({ email, code, ...origin }) {
      mailer()
      const place = await placeOf(email, origin)
      await limitAddress(place)
      // Counted before the code is checked, so that concurrent guesses cannot exceed the limit.
      await useFromPlace(limits, rateRules.emailCodeAttempt, email, place)
      const account = await redeem(email, code, place)
      if (!account) throw new Fault('invalid_code')
      await clearFromPlace(limits, rateRules.emailCodeAttempt, email, place)
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
