import type { AuthReport, FleetCosts, FleetHealth, FleetStatus } from '@roost/contracts/operations/fleet'
import type { Agent } from '../../agents/records/index.ts'
import { secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Monitoring } from '../monitoring/index.ts'
import { type Acts, type ActsDeps, createActs } from './acts.ts'
import { createEmergencyStop, type EmergencyDeps } from './emergency.ts'
import { costStore } from './store.ts'
import { type AuthOf, authReport, fleetCosts, fleetHealth, fleetStatus } from './view.ts'

export type BulkActionsDeps = ActsDeps &
  Omit<EmergencyDeps, 'acts'> & {
    db: Db
    monitoring: Pick<Monitoring, 'checkAgents' | 'settings'>
    /** Daily cost in US dollars from which an alert is raised; 0: none. */
    dailyLimit(): number
    /** Credentials of agents for their model providers. */
    subscriptions: {
      auth(agents: readonly Agent[]): Promise<ReadonlyMap<string, AuthOf>>
      list(): Promise<AuthReport['subscriptions']>
    }
  }

export type BulkActions = {
  status(): Promise<FleetStatus>
  health(): Promise<FleetHealth>
  costs(hours: number): Promise<FleetCosts>
  authReport(): Promise<AuthReport>
  acts: Acts
  emergencyStop: ReturnType<typeof createEmergencyStop>
}

export function createBulkActions(deps: BulkActionsDeps): BulkActions {
  const { db, clock, agentRecords, monitoring, subscriptions } = deps
  const acts = createActs(deps)
  const now = () => timestamp(clock.now())
  const checkAll = async () => monitoring.checkAgents(await agentRecords.all())

  return {
    acts,
    emergencyStop: createEmergencyStop({ ...deps, acts }),
    status: async () => fleetStatus(await checkAll(), monitoring.settings.config().context_warning, now()),
    health: async () => fleetHealth(await checkAll(), now()),
    async costs(hours) {
      const store = costStore(db)
      const since = timestamp(secondsLater(clock.now(), -hours * 3600))
      const today = `${now().slice(0, 10)}T00:00:00.000Z`
      const [models, agents, todayMicros] = await Promise.all([
        store.byModel(since),
        store.byAgent(since),
        store.total(today),
      ])
      const about = { hours, dailyLimit: deps.dailyLimit(), timestamp: now() }
      return fleetCosts({ models, agents, todayMicros }, about)
    },
    async authReport() {
      const agents = await agentRecords.all()
      const [auth, known] = await Promise.all([subscriptions.auth(agents), subscriptions.list()])
      return authReport(agents, auth, known, now())
    },
  }
}
