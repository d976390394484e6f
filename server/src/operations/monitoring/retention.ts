import type { Loop } from '../../background/loops.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import { checkStore } from './store.ts'

export function checkRetention(deps: SweepDeps): Loop {
  const store = checkStore(deps.db)
  return createSweep(deps, {
    name: 'monitoring.retention',
    what: 'health checks',
    key: 'health_check_retention_days',
    countBefore: store.countBefore,
    countAll: store.countAll,
    removeBefore: store.removeBefore,
  })
}
