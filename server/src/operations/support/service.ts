import type { SupportState } from '@roost/contracts/operations/support'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Settings } from '../../agents/settings/index.ts'
import type { Db } from '../../ports/database/port.ts'
import { supportStore } from './store.ts'

export type SupportDeps = {
  db: Db
  agentRecords: Pick<AgentRecords, 'all'>
  effectiveParallel: Settings['effectiveParallel']
  isLinked(agentId: string): boolean
  version: string
  /** Kind of the container engine. */
  containers: string
}

export type Support = { state(): Promise<SupportState> }

export function createSupport(deps: SupportDeps): Support {
  const { db, agentRecords, version, containers } = deps
  return {
    async state() {
      const store = supportStore(db)
      const [agents, migrations, open] = await Promise.all([
        agentRecords.all(),
        store.migrations(),
        store.openRuns(),
      ])
      const countOf = (agentId: string, status: string) =>
        open.find((row) => row.agent_id === agentId && row.status === status)?.count ?? 0
      return {
        version,
        containers,
        database: db.dialect,
        migrations,
        agents: await Promise.all(
          agents.map(async (agent) => ({
            name: agent.name,
            runtime: agent.runtime,
            status: agent.status,
            desired: agent.desired,
            is_system: Boolean(agent.is_system),
            is_linked: deps.isLinked(agent.id),
            is_held: Boolean(agent.held),
            exit_code: agent.exit_code,
            oom_killed: Boolean(agent.oom_killed),
            disk_state: agent.disk_state,
            slots: await deps.effectiveParallel(agent),
            queued: countOf(agent.id, 'queued'),
            running: countOf(agent.id, 'running'),
          })),
        ),
      }
    },
  }
}
