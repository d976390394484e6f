import { workspaceSession } from '@roost/contracts/conversations/workspace'
import type { RateLimits } from '../../foundation/rate-limits/index.ts'
import { rateRules } from '../../foundation/rate-limits/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { EmailCodes } from '../../identity/codes/index.ts'
import { codeMail, createOutgoing } from '../../identity/email-login/index.ts'
import type { Account, Users } from '../../identity/users/index.ts'
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
  users: Pick<Users, 'holderOf'>
  /** Null: no mail is sent, and nobody signs in by it. */
  mail: Pick<Mailer, 'send'> | null
  /** Whether this installation may exchange an address for a session. */
  isExchangeEntitled: boolean
  baseUrl: string
  principals: Principals
  roster: Pick<Roster, 'agentsOf'>
}

export type SignIn = {
  /** Answers alike, and as soon, whoever asks. Throws `email_login_disabled`, `rate_limited` for the client. */
  requestCode(wanted: { email: string; ip: string }): Promise<void>
  /** Throws `invalid_code` for every address and code that open nothing, and what limits throw. */
  verify(presented: {
    email: string
    code: string
    ip: string
  }): Promise<{ reply: { token: string; email: string; expires_at: string }; account: Account | null }>
  /** Throws `scope_not_allowed`, `entitlement_required`, `agent_access_denied` for an address without any agent. */
  exchange(
    by: SignedIn,
    email: string,
  ): Promise<{ reply: { token: string; email: string; expires_in: number }; account: Account | null }>
  settled(): Promise<void>
}

const purpose = 'workspace'

export function createSignIn(deps: SignInDeps): SignIn {
  const { db, limits, codes, users, mail, principals, roster, baseUrl } = deps
  const outgoing = createOutgoing(deps.log)

  const mailer = () => {
    if (!mail) throw new Fault('email_login_disabled')
    return mail
  }

  /** Admitted: some agent is shared with the address, and its person, where it is known, is not suspended. */
  async function entry(email: string): Promise<{ isAdmitted: boolean; account: Account | null }> {
    const account = await users.holderOf(db, email)
    if (account?.suspended_at) return { isAdmitted: false, account }
    return { isAdmitted: (await roster.agentsOf({ email, owns: null })).length > 0, account }
  }

  async function sendCode(to: Pick<Mailer, 'send'>, email: string): Promise<void> {
    try {
      await limits.use(rateRules.workspaceCode, email)
    } catch (error) {
      // Above its limit an address gets no mail, and nobody is told.
      if (isFault(error, 'rate_limited')) return
      throw error
    }
    if (!(await entry(email)).isAdmitted) return
    const code = await db.atomically((tx) => codes.mint(tx, purpose, email))
    await to.send(codeMail(email, code, `${baseUrl}/workspace`))
  }

  return {
    async requestCode({ email, ip }) {
      const to = mailer()
      await limits.use(rateRules.workspaceCodeClient, ip)
      outgoing.start(() => sendCode(to, email))
    },
    async verify({ email, code, ip }) {
      mailer()
      await limits.use(rateRules.emailCodeAddress, ip)
      // Counted before the code is looked at: of many guesses at once no more than the limit are tried.
      const subject = `${purpose}:${email}`
      await limits.use(rateRules.emailCodeAttempt, subject)
      // Asked again: a code may be older than the end of the last share.
      const { isAdmitted, account } = await entry(email)
      const opened = await db.atomically(async (tx) => {
        const isRight = await codes.redeem(tx, purpose, email, isAdmitted ? code : null)
        return isAdmitted && isRight ? principals.open(tx, email) : null
      })
      if (!opened) throw new Fault('invalid_code')
      await limits.clear(rateRules.emailCodeAttempt, subject)
      return { reply: { ...opened, email }, account }
    },
    async exchange(by, email) {
      if (by.kind !== 'key' || by.key.scope !== 'portal_delegate') throw new Fault('scope_not_allowed')
      if (!deps.isExchangeEntitled) throw new Fault('entitlement_required')
      const { isAdmitted, account } = await entry(email)
      if (!isAdmitted) throw new Fault('agent_access_denied', 'No agent is shared with this address.')
      const { token } = await principals.open(db, email)
      return { reply: { token, email, expires_in: workspaceSession.longestSeconds }, account }
    },
    settled: () => outgoing.settled(),
  }
}
