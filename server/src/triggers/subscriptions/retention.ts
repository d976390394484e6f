import type { Loop } from '../../background/loops.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import { eventStore } from './event-store.ts'

/** Removes old events of agents; undelivered events stay. */
export function eventRetention(deps: SweepDeps): Loop {
  const { db } = deps
  return createSweep(deps, {
    name: 'triggers.event-retention',
    what: 'events of agents',
    key: 'event_retention_days',
    countBefore: (before) => eventStore(db).countDone(before),
    countAll: () => eventStore(db).countAll(),
    removeBefore: (before, limit) => db.atomically((tx) => eventStore(tx).removeDone(before, limit)),
  })
}
