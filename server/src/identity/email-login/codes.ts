import { randomInt } from 'node:crypto'
import { emailCode } from '@roost/contracts/identity/email-login'
import type { Loop } from '../../background/loops.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db, Executor } from '../../ports/database/port.ts'
import { emailCodeStore } from './store.ts'

export type EmailCodes = {
  /** Returns a new code and voids the previous one of the same purpose and address. */
  mint(on: Executor, purpose: string, email: string): Promise<string>
  /**
   * True for the one caller that presents the right code in time. Null never matches but does the same work,
   * so that addresses without a code take as long.
   */
  redeem(on: Executor, purpose: string, email: string, code: string | null): Promise<boolean>
  loops: Loop[]
}

const maxWrongTries = 5

export function createEmailCodes(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'mac'>
}): EmailCodes {
  const { db, clock, vault } = deps
  const hashOf = (purpose: string, email: string, code: string | null) =>
    vault.mac(JSON.stringify([purpose, email, code]), 'email-code')
  return {
    async mint(on, purpose, email) {
      const code = String(randomInt(10 ** emailCode.digits)).padStart(emailCode.digits, '0')
      await emailCodeStore(on).put({
        purpose,
        email,
        code_hash: hashOf(purpose, email, code),
        wrong_tries: 0,
        expires_at: timestamp(secondsLater(clock.now(), emailCode.validSeconds)),
      })
      return code
    },

    async redeem(on, purpose, email, code) {
      const store = emailCodeStore(on)
      const code_hash = hashOf(purpose, email, code?.replaceAll(/[\s-]/g, '') ?? null)
      const limits = { tries: maxWrongTries, now: timestamp(clock.now()) }
      const isRight = await store.consume({ purpose, email, code_hash }, limits)
      if (!isRight) await store.countWrong({ purpose, email })
      return isRight
    },

    loops: [
      {
        name: 'email-code-sweep',
        everySeconds: 3600,
        run: () => emailCodeStore(db).deleteExpired(timestamp(clock.now())),
      },
    ],
  }
}
