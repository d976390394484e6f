import type { Loop } from '../../background/loops.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import { loopStore } from './store.ts'

/** Deletes ended loops after the retention time of execution rows. */
export function loopRetention(deps: SweepDeps): Loop {
  const store = loopStore(deps.db)
  return createSweep(deps, {
    name: 'loops.retention',
    what: 'loops',
    key: 'execution_row_retention_days',
    countBefore: store.countEnded,
    countAll: store.countAll,
    removeBefore: store.removeEnded,
  })
}
