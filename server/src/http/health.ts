import { sentenceOf } from '@roost/contracts/kit/errors'
import { getHealth, getInternalHealth } from '@roost/contracts/operations/health'
import { type Clock, timestamp } from '../kit/clock.ts'
import type { MigrationState } from '../ports/database/port.ts'
import { answer, type Route, route } from './route.ts'

/** `migrations` throws when the database does not answer; then this process is not healthy either. */
export function healthRoutes(deps: { clock: Clock; migrations(): Promise<MigrationState> }): Route[] {
  return [
    route(getHealth, async () => {
      const now = timestamp(deps.clock.now())
      const migrations = await deps
        .migrations()
        .catch(() => ({ applied: 0, expected: 0, first_pending: 'unknown' }))
      if (migrations.first_pending === null) return { status: 'healthy' as const, timestamp: now, migrations }
      const body = { status: 'unhealthy', timestamp: now, detail: sentenceOf('migrations_incomplete') }
      return answer({ ...body, error: 'migrations_incomplete', migrations }, { status: 503 })
    }),
  ]
}

export function internalHealthRoutes(): Route[] {
  return [route(getInternalHealth, async () => ({ status: 'ok' as const }))]
}
