import {
  getHealth,
  getInternalHealth,
  getLiveness,
  getReadiness,
  type Health,
  type StoreProblem,
} from '@roost/contracts/operations/health'
import { type Clock, timestamp } from '../kit/clock.ts'
import { Fault } from '../kit/fault.ts'
import { type MigrationState, NewerSchemaError } from '../ports/database/port.ts'
import { type Route, route } from './route.ts'

type HealthState = { migrations: Health['migrations']; fault?: { code: Fault['code']; detail?: string } }

export type HealthDeps = {
  clock: Clock
  /** Throws if the database does not respond; this process is then unhealthy too. */
  migrations(): Promise<MigrationState & { isNewer: boolean }>
  /** True from the stop request on, while the process still serves. */
  isStopping(): boolean
  /** The stores that cannot be written. */
  storeProblems(): Promise<StoreProblem[]>
}

export function healthRoutes({ clock, migrations, storeProblems, isStopping }: HealthDeps): Route[] {
  /** Throws the fault of an unhealthy process. */
  const read = async () => {
    const now = timestamp(clock.now())
    const { migrations: state, fault } = await migrations().then(stateOf, failureOf)
    const fields = { timestamp: now, migrations: state }
    if (fault) throw new Fault(fault.code, fault.detail, { status: 'unhealthy', ...fields })
    return { ...fields, problems: await storeProblems() }
  }
  return [
    route(getLiveness, async () => ({ status: 'alive' as const, timestamp: timestamp(clock.now()) })),
    route(getHealth, async () => {
      const health = await read()
      return {
        status: health.problems.length === 0 ? ('healthy' as const) : ('degraded' as const),
        ...health,
      }
    }),
    route(getReadiness, async () => {
      if (isStopping()) throw new Fault('stopping')
      const { timestamp, migrations, problems } = await read()
      // The platform works without the ephemeral store.
      const [first] = problems.filter(({ store }) => store !== 'ephemeral')
      if (first)
        throw new Fault(
          'store_unavailable',
          `Cannot write to the ${storeNames[first.store]}. ${first.reason}`,
          {
            status: 'degraded',
            timestamp,
            migrations,
            problems,
          },
        )
      return { status: 'ready' as const, timestamp }
    }),
  ]
}

const storeNames: Record<StoreProblem['store'], string> = {
  database: 'database',
  ephemeral: 'store for short-lived data',
  data_directory: 'data directory',
}

/** Additive migrations of a later version leave this one healthy: both run side by side during an upgrade. */
function stateOf({ isNewer, ...state }: MigrationState & { isNewer: boolean }): HealthState {
  if (state.first_pending === null) return { migrations: { state: isNewer ? 'newer' : 'complete', ...state } }
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
