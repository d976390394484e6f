import type { AgentsArea } from '../agents/area.ts'
import type { Loop } from '../background/loops.ts'
import type { Audit } from '../foundation/audit/index.ts'
import type { Idempotency, WorkStates } from '../foundation/idempotency/index.ts'
import type { Leases } from '../foundation/leases/index.ts'
import type { Outbox } from '../foundation/outbox/index.ts'
import type { RateLimits } from '../foundation/rate-limits/index.ts'
import type { Settings } from '../foundation/settings/index.ts'
import type { Vault } from '../foundation/vault/index.ts'
import type { Route } from '../http/route.ts'
import type { Users } from '../identity/users/index.ts'
import type { Clock } from '../kit/clock.ts'
import type { Db } from '../ports/database/port.ts'
import type { Log } from '../ports/log.ts'
import type { RunRecords, RunsArea } from '../runs/area.ts'
import { createSchedules, type Schedules, scheduleRoutes } from './schedules/index.ts'
import { createWakeUps, type WakeUpsDeps } from './wake-ups.ts'

/** What the features that start runs by themselves are built from. */
export type TriggersAreaDeps = Pick<WakeUpsDeps, 'deliverResult'> & {
  db: Db
  clock: Clock
  log: Log
  vault: Vault
  limits: RateLimits
  leases: Leases
  audit: Audit
  settings: Settings
  events: Pick<Outbox, 'append' | 'signal' | 'on'>
  idempotency: Idempotency
  works: Pick<WorkStates, 'register'>
  users: Pick<Users, 'find' | 'findLogin'>
  agents: AgentsArea
  records: RunRecords
  runs: RunsArea
  /** Under which people and programs reach the platform. */
  baseUrl: string
}

export type TriggersArea = {
  routes: Route[]
  /** For processes of the platform on this machine, and for agents. */
  internalRoutes: Route[]
  loops: Loop[]
  schedules: Schedules
  /** What follows the ends of runs so far is done; call before the database closes. */
  close(): Promise<void>
}

/** Wires what starts runs without anybody asking at that moment. */
export function createTriggersArea(deps: TriggersAreaDeps): TriggersArea {
  const { db, clock, events, agents, settings } = deps
  const schedules = createSchedules({
    db,
    clock,
    events,
    directory: agents.directory,
    reach: agents.reach.reach,
    hooks: agents.hooks,
    retentionDays: () => settings.value('schedule_soft_delete_retention_days'),
    lastFires: async () => new Map(),
  })
  const wakeUps = createWakeUps(deps)

  return {
    schedules,
    routes: [...scheduleRoutes(schedules), ...wakeUps.routes],
    internalRoutes: [],
    loops: wakeUps.loops,
    close: wakeUps.settled,
  }
}
