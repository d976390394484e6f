import { Fault } from '../kit/fault.ts'

/** Memory that request bodies may occupy together while they arrive. */
export type BodyBudget = {
  /**
   * `account`: whose request it is; keys and agents count for their account, all callers without one count together.
   * Returns the function that releases the bytes. Throws `rate_limited`.
   */
  reserve(bytes: number, account: string | null): () => void
}

/** About ten messages with the largest attachments. Bounds one account, and all callers without one. */
const maxBytesEach = 256 * 1024 * 1024
/** Bounds all accounts together, so one of them cannot take everything. */
const maxBytesOfAccounts = 2 * maxBytesEach
const retryAfterSeconds = 5

export function createBodyBudget(): BodyBudget {
  const used = new Map<string | null, number>()
  let usedByAccounts = 0

  function add(bytes: number, account: string | null): void {
    const own = (used.get(account) ?? 0) + bytes
    if (own === 0) used.delete(account)
    else used.set(account, own)
    if (account !== null) usedByAccounts += bytes
  }

  return {
    reserve(bytes, account) {
      const isOwnFull = (used.get(account) ?? 0) + bytes > maxBytesEach
      if (isOwnFull || (account !== null && usedByAccounts + bytes > maxBytesOfAccounts)) {
        throw new Fault('rate_limited', 'Too many large requests are arriving: try again in a moment.', {
          retry_after_seconds: retryAfterSeconds,
        })
      }
      add(bytes, account)
      let isReleased = false
      return () => {
        if (!isReleased) add(-bytes, account)
        isReleased = true
      }
    },
  }
}
