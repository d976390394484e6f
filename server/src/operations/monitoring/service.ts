import type { FleetAlert } from '@roost/contracts/operations/alerts'
import type { AgentHealth, HealthCheck, MonitoringStatus } from '@roost/contracts/operations/monitoring'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { MonitoringSettings } from '../../foundation/settings/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { secondsLater, timestamp } from '../../kit/clock.ts'
import { type AgentLink, LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import type { Tx } from '../../ports/database/port.ts'
import { isAdmin } from '../../runs/executions/index.ts'
import { createLook, type Look, type LookDeps } from './look.ts'
import { createRounds, type RoundDeps } from './round.ts'
import { uptimePercent } from './rules.ts'
import { checkStore } from './store.ts'
import { detailOf, rowOf, summaryOf, worstFirst } from './view.ts'

export type MonitoringDeps = Omit<LookDeps, 'config'> &
  Pick<RoundDeps, 'events' | 'alerts' | 'dailyLimit'> & {
    settings: MonitoringSettings
    agentRecords: Pick<AgentRecords, 'all'>
    agentAccess: Pick<AgentAccess, 'accessibleAgents'>
    link: Pick<AgentLink, 'call' | 'isConnected'>
    /** Milliseconds of a clock that is never set. */
    monotonic(): number
    /** Platform alerts of an agent since then, the newest first. */
    alertsOf(agentId: string, since: string): Promise<FleetAlert[]>
  }

export type Monitoring = {
  look: Look
  settings: MonitoringSettings
  status(caller: SignedIn): Promise<MonitoringStatus>
  detail(agent: Agent): Promise<AgentHealth>
  /** Newest first. */
  history(agentId: string, query: { hours: number; limit: number }): Promise<HealthCheck[]>
  /** Asks the agent's program, writes the check down and answers it. */
  check(agent: Agent): Promise<AgentHealth>
  /** Hook of the registry. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
}

const daySeconds = 24 * 3600
const answerSeconds = 5

export function createMonitoring(deps: MonitoringDeps): Monitoring {
  const { db, clock, settings, link, health } = deps
  const { config } = settings
  const look = createLook({ ...deps, config })
  const rounds = createRounds({ ...deps, config, look, allAgents: deps.agentRecords.all })
  const since = (seconds: number) => timestamp(secondsLater(clock.now(), -seconds))

  async function detail(agent: Agent): Promise<AgentHealth> {
    const [looked] = await look([agent])
    if (!looked) throw new Error('An agent that was looked at was not found.')
    const store = checkStore(db)
    const [check, uptime, alerts] = await Promise.all([
      store.newestOf(agent.id),
      store.uptime(agent.id, since(daySeconds)),
      deps.alertsOf(agent.id, since(daySeconds)),
    ])
    const age = health.heartbeatOf(agent.id).last_heartbeat_age_seconds
    const lastSeenAt = age === null ? null : since(age)
    return detailOf(looked, { check, lastSeenAt, alerts, uptime: uptimePercent(uptime) })
  }

  /** Null: it did not answer. */
  async function latencyOf(agent: Agent): Promise<number | null> {
    if (!link.isConnected(agent.id)) return null
    const asked = deps.monotonic()
    try {
      await link.call(agent.id, 'info', {}, { timeoutSeconds: answerSeconds })
      return Math.round(deps.monotonic() - asked)
    } catch (error) {
      if (error instanceof LinkDown || error instanceof LinkTimeout || error instanceof LinkFault) return null
      throw error
    }
  }

  return {
    look,
    settings,
    detail,
    async status(caller) {
      const reached = (await deps.agentAccess.accessibleAgents(caller)).map(({ agent }) => agent)
      const [looked, checks] = await Promise.all([look(reached), checkStore(db).newest()])
      const rows = looked.map((each) => rowOf(each, checks.get(each.agent.id)))
      const times = rows.flatMap(({ last_check_at }) => last_check_at ?? [])
      return {
        enabled: config().enabled,
        last_check_at: times.toSorted().at(-1) ?? null,
        summary: summaryOf(rows),
        agents: rows.toSorted(worstFirst),
        ...(isAdmin(caller) ? { circuit_breakers: await openBreakers(reached) } : {}),
      }
    },
    async history(agentId, { hours, limit }) {
      const rows = await checkStore(db).history(agentId, since(hours * 3600), limit)
      return rows.map(({ checked_at, status, cpu_percent, memory_percent, issues }) => ({
        checked_at,
        status,
        cpu_percent,
        memory_percent,
        // Written by this feature.
        issues: JSON.parse(issues) as string[],
      }))
    },
    async check(agent) {
      const latency = await latencyOf(agent)
      await rounds.check([agent])
      await checkStore(db).noteLatency(agent.id, latency)
      return detail(agent)
    },
    agentDeleted: (tx, agentId) => checkStore(tx).forget(agentId),
    loops: [rounds.loop],
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
