import type { Clock } from '../../kit/clock.ts'
import type { AuditEntry } from './entry.ts'

/**
 * Entries of what programs do again and again. Of those that are alike (key, endpoint, target and status) the
 * first of a minute is an entry at once, and the others of that minute are one together, which says how many
 * they were (`details.calls`).
 */
export type Repeats = {
  note(entry: AuditEntry): void
  /** Tells of the minutes that are over; at the end of the process, of all. */
  tell(which: 'over' | 'all'): void
}

type Kind = { entry: AuditEntry; from: number; more: number }

const windowMs = 60_000
const mostKinds = 10_000

export function createRepeats(deps: { clock: Pick<Clock, 'now'>; record(entry: AuditEntry): void }): Repeats {
  const { clock, record } = deps
  /** In the order in which their minutes began. */
  const kinds = new Map<string, Kind>()

  function tell(which: 'over' | 'all'): void {
    const now = clock.now().getTime()
    for (const [name, { entry, from, more }] of kinds) {
      // A beginning in the future: the clock was set back.
      const isOver = which === 'all' || now >= from + windowMs || now < from
      if (!isOver) return
      kinds.delete(name)
      if (more > 0) record({ ...entry, request_id: null, details: { ...entry.details, calls: more } })
    }
  }

  return {
    tell,
    note(entry) {
      tell('over')
      const name = [entry.mcp_key_id, entry.endpoint, entry.target_id, entry.status].join('\n')
      const present = kinds.get(name)
      if (present) {
        present.more += 1
        return
      }
      if (kinds.size < mostKinds) kinds.set(name, { entry, from: clock.now().getTime(), more: 0 })
      record(entry)
    },
  }
}
