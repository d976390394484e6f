import { createHash } from 'node:crypto'
import type { CallReply } from '@roost/contracts/client'
import { ApiError, type Client } from '@roost/contracts/client'
import { validateKey } from '@roost/contracts/identity/keys'

/** What the API says of a key. */
export type ValidKey = CallReply<typeof validateKey>

/** Who calls, and the API as that caller; null: a good key that reaches nothing here. */
export type Caller = { key: ValidKey; api: Client } | null

/** Null: the key is good, and reaches nothing here. */
export type CheckedKey = { id: string; facts: ValidKey | null }

export type KeyCheck = {
  /** Null: no such key, or it is ended. Throws when the API cannot be asked. */
  check(token: string): Promise<CheckedKey | null>
}

/** Seconds for which an answer is believed; every call is checked by the API again. */
const believedSeconds = 30
const mostKept = 10_000

/** Asks the API about keys, once for each in half a minute however many requests come with it. */
export function createKeyCheck(api: Client, clock: { now(): number }): KeyCheck {
  const answers = new Map<string, { until: number; answer: Promise<CheckedKey | null> }>()
  return {
    check(token) {
      const id = createHash('sha256').update(token).digest('base64url')
      const now = clock.now()
      const known = answers.get(id)
      if (known && known.until > now) return known.answer
      const answer = ask(api.withToken(token), id)
      if (answers.size >= mostKept) answers.clear()
      answers.set(id, { until: now + believedSeconds * 1000, answer })
      answer.catch(() => answers.delete(id))
      return answer
    },
  }
}

async function ask(api: Client, id: string): Promise<CheckedKey | null> {
  try {
    const facts = await api.call(validateKey, {})
    return { id, facts }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 401) return null
    if (error.status === 403) return { id, facts: null }
    throw error
  }
}
