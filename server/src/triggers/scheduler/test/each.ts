import type { Platform } from '../platform.ts'

/** Fires that are handed over together, each as one by itself. */
export function eachBy(fire: Platform['fire']): Platform['fireTogether'] {
  return async (dues, signal) => {
    const replies = await Promise.all(dues.map((due) => fire(due, signal)))
    const results = replies.map((reply) => {
      if ('async_mode' in reply || 'reason' in reply) return reply
      throw new Error('Nobody waits for the end of a run here.')
    })
    return { results }
  }
}
