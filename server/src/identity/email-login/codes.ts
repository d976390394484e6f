import { randomInt } from 'node:crypto'
import { emailCode } from '@roost/contracts/identity/email-login'
import type { Loop } from '../../background/loops.ts'
import { type Place, placeName, rateRules } from '../../foundation/rate-limits/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db, Executor } from '../../ports/database/port.ts'
import { emailCodeStore } from './store.ts'

export type EmailCodes = {
  /**
   * Returns a new code. It replaces the previous one of this place; elsewhere only the newest code of any place
   * is accepted. So a stranger who requests codes voids none that a person requested.
   */
  mint(on: Executor, target: CodeTarget): Promise<string>
  /**
   * True for the one caller that presents the right code in time, which voids all codes of the target. Null never
   * matches but does the same work, so that addresses without a code take as long.
   */
  redeem(on: Executor, target: CodeTarget, code: string | null): Promise<boolean>
  /** Voids every code of an address, whatever it is for. */
  voidAll(on: Executor, email: string): Promise<void>
  loops: Loop[]
}

export type CodeTarget = { purpose: string; email: string; place: Place }

/** Wrong tries that lock a code where it was requested, and for all other places together. */
const maxWrongTries = {
  here: rateRules.emailCodeAttempt.each.limit,
  elsewhere: rateRules.emailCodeAttempt.all.limit,
}

export function createEmailCodes(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'mac'>
}): EmailCodes {
  const { db, clock, vault } = deps
  const hashOf = (purpose: string, email: string, code: string | null) =>
    vault.mac(JSON.stringify([purpose, email, code]), 'email-code')
  return {
    async mint(on, { purpose, email, place }) {
      const code = String(randomInt(10 ** emailCode.digits)).padStart(emailCode.digits, '0')
      const expires_at = timestamp(secondsLater(clock.now(), emailCode.validSeconds))
      for (const each of purposesOf(purpose, place))
        await emailCodeStore(on).put({
          purpose: each,
          email,
          code_hash: hashOf(each, email, code),
          wrong_tries: 0,
          expires_at,
        })
      return code
    },

    async redeem(on, { purpose, email, place }, code) {
      const store = emailCodeStore(on)
      const plain = code?.replaceAll(/[\s-]/g, '') ?? null
      const now = timestamp(clock.now())
      const [anywhere, here] = purposesOf(purpose, place)
      // Counted before the check. The first update also locks the row, so that concurrent uses take turns.
      await store.countTry({ purpose: anywhere, email })
      if ((await store.countTry({ purpose: here, email })) > maxWrongTries.here) return false
      const consume = (each: string, tries: number) =>
        store.consume({ purpose: each, email, code_hash: hashOf(each, email, plain) }, { tries, now })
      const isRight =
        (await consume(here, maxWrongTries.here)) || (await consume(anywhere, maxWrongTries.elsewhere))
      if (isRight) await store.removeAll(purpose, email)
      return isRight
    },

    voidAll: (on, email) => emailCodeStore(on).removeAllOf(email),

    loops: [
      {
        name: 'email-code-sweep',
        everySeconds: 3600,
        run: () => emailCodeStore(db).deleteExpired(timestamp(clock.now())),
      },
    ],
  }
}

/** A code is stored twice: for every place, and for the place that requested it. */
function purposesOf(purpose: string, place: Place): [anywhere: string, here: string] {
  return [purpose, `${purpose}@${placeName(place)}`]
}
