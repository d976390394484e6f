import type { AgentHealth, HealthCheck, MonitoringStatus } from '@roost/contracts/operations/monitoring'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import { createSweep, type MonitoringSettings, type SweepDeps } from '../../foundation/settings/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { secondsLater, timestamp } from '../../kit/clock.ts'
import { type AgentLink, LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import type { Tx } from '../../ports/database/port.ts'
import { isAdmin } from '../../runs/executions/index.ts'
import type { AlertList } from '../operator-queue/index.ts'
import { type CheckAgents, type CheckDeps, createCheckAgents } from './check.ts'
import { createRounds, type RoundDeps } from './rounds.ts'
import { uptimePercent } from './rules.ts'
import { checkStore } from './store.ts'
import { detailOf, rowOf, summaryOf, worstFirst } from './view.ts'

export type MonitoringDeps = Omit<CheckDeps, 'config'> &
  Pick<RoundDeps, 'events' | 'alerts' | 'dailyLimit'> & {
    settings: SweepDeps['settings'] & { monitoring: MonitoringSettings }
    log: SweepDeps['log']
    agentRecords: Pick<AgentRecords, 'all'>
    agentAccess: Pick<AgentAccess, 'accessibleAgents'>
    link: Pick<AgentLink, 'call' | 'isConnected'>
    /** Milliseconds of a clock that is never adjusted. */
    monotonic(): number
    alertList: Pick<AlertList, 'ofAgent' | 'statesOf'>
  }

export type Monitoring = {
  checkAgents: CheckAgents
  settings: MonitoringSettings
  status(caller: SignedIn): Promise<MonitoringStatus>
  detail(agent: Agent): Promise<AgentHealth>
  /** Newest first. */
  history(agentId: string, query: { hours: number; limit: number }): Promise<HealthCheck[]>
  /** Calls the agent's program, stores the check and returns it. */
  check(agent: Agent): Promise<AgentHealth>
  /** Called in the transaction that deletes an agent. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
}

const daySeconds = 24 * 3600
const replySeconds = 5

export function createMonitoring(deps: MonitoringDeps): Monitoring {
  const { db, clock, link, health } = deps
  const settings = deps.settings.monitoring
  const { config } = settings
  const checks = checkStore(db)
  const checkAgents = createCheckAgents({ ...deps, config })
  const rounds = createRounds({ ...deps, config, checkAgents, allAgents: deps.agentRecords.all })
  const since = (seconds: number) => timestamp(secondsLater(clock.now(), -seconds))

  async function detail(agent: Agent): Promise<AgentHealth> {
    const [found] = await checkAgents([agent])
    if (!found) throw new Error('The check of an agent is missing.')
    const [check, uptime, alerts] = await Promise.all([
      checks.newestOf(agent.id),
      checks.uptime(agent.id, since(daySeconds)),
      deps.alertList.ofAgent(agent.id, since(daySeconds)),
    ])
    const age = health.heartbeatOf(agent.id).last_heartbeat_age_seconds
    const lastSeenAt = age === null ? null : since(age)
    return detailOf(found, { check, lastSeenAt, alerts, uptime: uptimePercent(uptime) })
  }

  /** Null when the agent does not reply. */
  async function latencyOf(agent: Agent): Promise<number | null> {
    if (!link.isConnected(agent.id)) return null
    const startedAt = deps.monotonic()
    try {
      await link.call(agent.id, 'info', {}, { timeoutSeconds: replySeconds })
      return Math.round(deps.monotonic() - startedAt)
    } catch (error) {
      if (error instanceof LinkDown || error instanceof LinkTimeout || error instanceof LinkFault) return null
      throw error
    }
  }

  return {
    checkAgents,
    settings,
    detail,
    async status(caller) {
      const accessible = (await deps.agentAccess.accessibleAgents(caller)).map(({ agent }) => agent)
      const [found, newest] = await Promise.all([checkAgents(accessible), checks.newest()])
      const rows = found.map((each) => rowOf(each, newest.get(each.agent.id)))
      const times = rows.flatMap(({ last_check_at }) => last_check_at ?? [])
      return {
        enabled: config().enabled,
        last_check_at: times.toSorted().at(-1) ?? null,
        summary: summaryOf(rows),
        agents: rows.toSorted(worstFirst),
        ...(isAdmin(caller) ? { circuit_breakers: await openBreakers(accessible) } : {}),
      }
    },
    async history(agentId, { hours, limit }) {
      const rows = await checks.history(agentId, since(hours * 3600), limit)
      return rows.map(({ checked_at, status, cpu_percent, memory_percent, issues }) => ({
        checked_at,
        status,
        cpu_percent,
        memory_percent,
        // This feature wrote it.
        issues: JSON.parse(issues) as string[],
      }))
    },
    async check(agent) {
      const latency = await latencyOf(agent)
      await rounds.check([agent])
      await checks.noteLatency(agent.id, latency)
      return detail(agent)
    },
    agentDeleted: (tx, agentId) => checkStore(tx).forget(agentId),
    loops: [
      rounds.loop,
      createSweep(deps, {
        name: 'monitoring.retention',
        what: 'health checks',
        key: 'health_check_retention_days',
        countBefore: checks.countBefore,
        countAll: checks.countAll,
        removeBefore: checks.removeBefore,
      }),
    ],
  }

  async function openBreakers(agents: readonly Agent[]) {
    const states = await deps.breakers.dispatchStates()
    return Object.fromEntries(
      agents.flatMap(({ id, name }) => {
        const state = states.get(id)
        return state === undefined ? [] : [[name, state] as const]
      }),
    )
  }
}
