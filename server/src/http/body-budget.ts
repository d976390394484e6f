import { Fault } from '../kit/fault.ts'

/** Memory that request bodies may occupy together while they arrive. */
export type BodyBudget = {
  /** Returns the function that releases the bytes. Throws `rate_limited`. */
  reserve(bytes: number): () => void
}

/** About ten messages with the largest attachments. */
const maxBytes = 256 * 1024 * 1024
const retryAfterSeconds = 5

export function createBodyBudget(): BodyBudget {
  let used = 0
  return {
    reserve(bytes) {
      if (used + bytes > maxBytes) {
        throw new Fault('rate_limited', 'Too many large requests are arriving: try again in a moment.', {
          retry_after_seconds: retryAfterSeconds,
        })
      }
      used += bytes
      let isReleased = false
      return () => {
        if (!isReleased) used -= bytes
        isReleased = true
      }
    },
  }
}
