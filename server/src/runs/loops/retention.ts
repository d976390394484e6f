import type { Loop } from '../../background/loops.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import { loopStore } from './store.ts'

/** Removes loops that have ended long ago: as long as the records of runs are kept, what they belong to is. */
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
