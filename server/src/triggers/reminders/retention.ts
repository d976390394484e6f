import type { Loop } from '../../background/loops.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import { reminderStore } from './store.ts'

/** Removes old reminders that fired, were cancelled or failed. */
export function reminderRetention(deps: SweepDeps): Loop {
  const store = reminderStore(deps.db)
  return createSweep(deps, {
    name: 'triggers.reminder-retention',
    what: 'reminders',
    key: 'agent_reminders_retention_days',
    countBefore: store.countOver,
    countAll: store.countAll,
    removeBefore: store.removeOver,
  })
}
