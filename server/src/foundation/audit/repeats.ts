import type { Clock } from '../../kit/clock.ts'
import type { AuditEntry } from './entry.ts'

/**
 * Combines entries of repeated reads. Of equal calls (key, endpoint, target and status) the first in a minute is
 * recorded immediately. The others of that minute become one entry with their number in `details.calls`.
 */
export type Repeats = {
  note(entry: AuditEntry): void
  /** Records the combined entries of ended minutes, or of all minutes when the process ends. */
  flush(which: 'ended' | 'all'): void
}

type Group = { entry: AuditEntry; startedAt: number; more: number }

const windowMs = 60_000
const maxGroups = 10_000

export function createRepeats(deps: { clock: Pick<Clock, 'now'>; record(entry: AuditEntry): void }): Repeats {
  const { clock, record } = deps
  /** Ordered by the start of their minute. */
  const groups = new Map<string, Group>()

  function flush(which: 'ended' | 'all'): void {
    const now = clock.now().getTime()
    for (const [name, { entry, startedAt, more }] of groups) {
      // A start in the future means that the clock was set back.
      const hasEnded = which === 'all' || now >= startedAt + windowMs || now < startedAt
      if (!hasEnded) return
      groups.delete(name)
      if (more > 0) record({ ...entry, request_id: null, details: { ...entry.details, calls: more } })
    }
  }

  return {
    flush,
    note(entry) {
      flush('ended')
      const name = [entry.mcp_key_id, entry.endpoint, entry.target_id, entry.status].join('\n')
      const present = groups.get(name)
      if (present) {
        present.more += 1
        return
      }
      if (groups.size < maxGroups) groups.set(name, { entry, startedAt: clock.now().getTime(), more: 0 })
      record(entry)
    },
  }
}
