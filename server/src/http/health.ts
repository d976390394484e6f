import { getHealth, getInternalHealth, type Health } from '@roost/contracts/operations/health'
import { type Clock, timestamp } from '../kit/clock.ts'
import { Fault } from '../kit/fault.ts'
import { type MigrationState, NewerSchemaError } from '../ports/database/port.ts'
import { type Route, route } from './route.ts'

type HealthState = { migrations: Health['migrations']; fault?: { code: Fault['code']; detail?: string } }

/** `migrations` throws if the database does not respond; this process is then unhealthy too. */
export function healthRoutes(deps: { clock: Clock; migrations(): Promise<MigrationState> }): Route[] {
  return [
    route(getHealth, async () => {
      const timestampNow = timestamp(deps.clock.now())
      const { migrations, fault } = await deps.migrations().then(stateOf, failureOf)
      if (!fault) return { status: 'healthy' as const, timestamp: timestampNow, migrations }
      const fields = { status: 'unhealthy', timestamp: timestampNow, migrations }
      throw new Fault(fault.code, fault.detail, fields)
    }),
  ]
}

function stateOf(state: MigrationState): HealthState {
  if (state.first_pending === null) return { migrations: { state: 'complete', ...state } }
  return { migrations: { state: 'incomplete', ...state }, fault: { code: 'migrations_incomplete' } }
}

/** The schema of an unreadable database is unknown, not incomplete. */
function failureOf(error: unknown): HealthState {
  const unknown = { applied: null, expected: null, first_pending: null }
  if (error instanceof NewerSchemaError) {
    const fault = { code: 'migrations_incomplete' as const, detail: error.message }
    return { migrations: { state: 'newer', ...unknown }, fault }
  }
  const detail = 'The database cannot be read, so the state of its schema is unknown.'
  return { migrations: { state: 'unknown', ...unknown }, fault: { code: 'store_unavailable', detail } }
}

export function internalHealthRoutes(): Route[] {
  return [route(getInternalHealth, async () => ({ status: 'ok' as const }))]
}
