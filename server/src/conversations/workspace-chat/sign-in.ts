import { workspaceSession } from '@roost/contracts/conversations/workspace'
import {
  clearFromPlace,
  type Place,
  type RateLimits,
  rateRules,
  useFromPlace,
} from '../../foundation/rate-limits/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { addressSubject, type Devices, type Origin } from '../../identity/devices/index.ts'
import { codeMail, createOutgoing, type EmailCodes } from '../../identity/email-login/index.ts'
import type { Account } from '../../identity/users/index.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Mailer } from '../../ports/mail/port.ts'
import type { Principals } from './principal.ts'
import type { Roster } from './roster.ts'

export type SignInDeps = {
  db: Db
  log: Pick<Log, 'warn'>
  limits: Pick<RateLimits, 'use' | 'clear'>
  codes: Pick<EmailCodes, 'mint' | 'redeem'>
  devices: Devices
  /** Null when the platform sends no mail; then email sign-in is disabled. */
  mail: Pick<Mailer, 'send'> | null
  /** Whether this installation may exchange an address for a session. */
  isExchangeEntitled: boolean
  baseUrl: string
  principals: Principals
  roster: Pick<Roster, 'agentsOf'>
}

export type SignIn = {
  /**
   * Responds identically and in the same time for every address. Throws `email_login_disabled`, and `rate_limited` for
   * the client.
   */
  requestCode(request: Origin & { email: string }): Promise<void>
  /** `deviceMark`: a `Set-Cookie` header. Throws `invalid_code` for every invalid combination of address and code, and `rate_limited`. */
  verify(attempt: Origin & { email: string; code: string }): Promise<{
    reply: { token: string; email: string; expires_at: string }
    account: Account | null
    deviceMark: string
  }>
  /** Throws `scope_not_allowed`, `entitlement_required`, `agent_access_denied` for an address without any agent. */
  exchange(
    caller: SignedIn,
    email: string,
  ): Promise<{ reply: { token: string; email: string; expires_in: number }; account: Account | null }>
  settled(): Promise<void>
}

const purpose = 'workspace'

export function createSignIn(deps: SignInDeps): SignIn {
  const { db, limits, devices, codes, mail, principals, roster, baseUrl } = deps
  const outgoing = createOutgoing(deps.log)

  const requireMail = () => {
    if (!mail) throw new Fault('email_login_disabled')
    return mail
  }

  /** Admitted when an agent is shared with the address and its account, if any, is not suspended. */
  async function admissionOf(email: string): Promise<{ isAdmitted: boolean; account: Account | null }> {
    const { account, isSuspended } = await principals.ownerOf(email)
    if (isSuspended) return { isAdmitted: false, account }
    return { isAdmitted: (await roster.agentsOf({ email, owns: null })).length > 0, account }
  }

  async function sendCode(to: Pick<Mailer, 'send'>, email: string, place: Place): Promise<void> {
    try {
      await useFromPlace(limits, rateRules.workspaceCode, email, place)
    } catch (error) {
      // An address above its limit silently gets no mail.
      if (isFault(error, 'rate_limited')) return
      throw error
    }
    if (!(await admissionOf(email)).isAdmitted) return
    const code = await db.atomically((tx) => codes.mint(tx, { purpose, email, place }))
    await to.send(codeMail(email, code, `${baseUrl}/workspace`))
  }

  return {
    async requestCode({ email, ...origin }) {
      const to = requireMail()
      const place = devices.place(addressSubject(email), origin)
      if (place.device === null) await limits.use(rateRules.workspaceCodeClient, place.ip)
      outgoing.start(() => sendCode(to, email, place))
    },
    async verify({ email, code, ...origin }) {
      requireMail()
      const place = devices.place(addressSubject(email), origin)
      // A known device has its own count. Others at its address do not use it up.
      if (place.device === null) await limits.use(rateRules.emailCodeAddress, place.ip)
      // Counted before the code is checked, so that concurrent guesses cannot exceed the limit.
      const subject = `${purpose}:${email}`
      await useFromPlace(limits, rateRules.emailCodeAttempt, subject, place)
      // Checked again, because the last share may have ended after the code was sent.
      const { isAdmitted, account } = await admissionOf(email)
      const session = await db.atomically(async (tx) => {
        const isValid = await codes.redeem(tx, { purpose, email, place }, isAdmitted ? code : null)
        return isAdmitted && isValid ? principals.open(tx, email) : null
      })
      if (!session) throw new Fault('invalid_code')
      await clearFromPlace(limits, rateRules.emailCodeAttempt, subject, place)
      const deviceMark = devices.remember(addressSubject(email), origin)
      return { reply: { ...session, email }, account, deviceMark }
    },
    async exchange(caller, email) {
      if (caller.kind !== 'key' || caller.key.scope !== 'portal_delegate')
        throw new Fault('scope_not_allowed')
      if (!deps.isExchangeEntitled) throw new Fault('entitlement_required')
      const { isAdmitted, account } = await admissionOf(email)
      if (!isAdmitted) throw new Fault('agent_access_denied', 'No agent is shared with this address.')
      const { token } = await principals.open(db, email)
      return { reply: { token, email, expires_in: workspaceSession.longestSeconds }, account }
    },
    settled: () => outgoing.settled(),
  }
}
