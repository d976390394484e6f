import type { AgentStatus, HeartbeatState } from '@roost/contracts/agents/agent'
import { type HealthStatus, healthStatuses } from '@roost/contracts/operations/monitoring'
import type { MonitoringConfig } from '@roost/contracts/operations/monitoring-config'

/** State of one agent at one moment. */
export type AgentState = {
  desired: 'running' | 'stopped'
  status: AgentStatus
  exit_code: number | null
  oom_killed: boolean
  /** Crashed so often that it stays stopped. */
  held: boolean
  /** Seconds since the platform last set or observed its status. */
  settledSeconds: number
  isLinked: boolean
  heartbeat: HeartbeatState
  /** Percent of its CPU limit. */
  cpu_percent: number | null
  memory_percent: number | null
  context_percent: number | null
  /** Ended runs of the last hour. */
  success: number
  failed: number
  stuck: number
  /** Consecutive failed syncs with its repository. */
  syncFailures: number
  /** Its breaker refuses new runs. */
  isRefused: boolean
}

type Level = Exclude<HealthStatus, 'unknown' | 'healthy'>
export type Issue = { level: Level; text: string; recommendation: string }
export type Judgement = { status: HealthStatus; issues: Issue[] }

/** Time for a container to start, connect and beat. Until then its health is unknown. */
export const graceSeconds = 60
/** Ended runs needed for an error rate. */
export const minRuns = 3
const maxFailedSyncs = 3

export function judge(state: AgentState, config: MonitoringConfig): Judgement {
  const isSettled = state.settledSeconds >= graceSeconds
  if (state.status !== 'running') {
    if (state.desired === 'stopped' || (state.status === 'stopped' && !isSettled)) return unknownHealth
    return judgementOf([notRunning(state)])
  }
  if (!state.isLinked && !isSettled) return unknownHealth
  return judgementOf([...linkIssues(state), ...useIssues(state, config), ...workIssues(state, config)])
}

const unknownHealth: Judgement = { status: 'unknown', issues: [] }

function judgementOf(issues: readonly Issue[]): Judgement {
  const worstFirst = issues.toSorted((a, b) => rank(a.level) - rank(b.level))
  return { status: worstFirst[0]?.level ?? 'healthy', issues: worstFirst }
}

/** Rank of a status; 0 is the worst. */
export function rank(status: HealthStatus): number {
  return healthStatuses.indexOf(status)
}

function notRunning({ status, held, oom_killed, exit_code }: AgentState): Issue {
  const why = oom_killed ? 'out of memory' : `exit code ${exit_code ?? 'unknown'}`
  const ended = held
    ? `Its container kept ending (${why}) and stays down.`
    : `Its container has ended (${why}).`
  return {
    level: 'critical',
    text: status === 'exited' ? ended : 'It should run, but its container does not.',
    recommendation: oom_killed
      ? 'Give it more memory, then start it.'
      : 'Check its logs, then start it again.',
  }
}

function linkIssues({ isLinked, heartbeat }: AgentState): Issue[] {
  if (!isLinked) {
    return [
      {
        level: 'unhealthy',
        text: 'Its program has no link to the platform.',
        recommendation: 'Check its logs. Restart it if the link does not come back.',
      },
    ]
  }
  if (heartbeat !== 'stale') return []
  return [
    {
      level: 'degraded',
      text: 'Its program has not been heard from for more than 20 seconds.',
      recommendation: 'Check whether the machine is overloaded. Restart the agent if it stays silent.',
    },
  ]
}

function useIssues(state: AgentState, config: MonitoringConfig): Issue[] {
  const percent = (value: number) => `${Math.round(value)} %`
  return [
    ...above(state.memory_percent, [config.memory_warning, config.memory_critical], {
      text: (value) => `It uses ${percent(value)} of its memory.`,
      recommendation: 'Give it more memory, or fewer parallel runs.',
      worst: 'critical',
    }),
    ...above(state.context_percent, [config.context_warning, config.context_critical], {
      text: (value) => `The context of its newest run is ${percent(value)} full.`,
      recommendation: 'Start a new conversation, or give it smaller tasks.',
      worst: 'critical',
    }),
    ...above(state.cpu_percent, [config.cpu_warning, config.cpu_critical], {
      text: (value) => `It uses ${percent(value)} of its CPUs.`,
      recommendation: 'Give it more CPUs, or fewer parallel runs.',
      worst: 'unhealthy',
    }),
  ]
}

function workIssues(state: AgentState, config: MonitoringConfig): Issue[] {
  const { stuck, syncFailures, isRefused } = state
  const degraded = (isTrue: boolean, text: string, recommendation: string): Issue[] =>
    isTrue ? [{ level: 'degraded', text, recommendation }] : []
  return [
    ...above(errorRate(state), [config.error_rate_warning, config.error_rate_critical], {
      text: (value) => `${Math.round(value * 100)} % of its runs in the last hour have failed.`,
      recommendation: 'Check the errors of its newest runs.',
      worst: 'unhealthy',
    }),
    ...degraded(
      isRefused,
      'New runs are refused because its provider refused too many.',
      'Check its provider key. The breaker tries again automatically.',
    ),
    ...degraded(
      stuck > 0,
      stuck === 1 ? 'One of its runs is silent.' : `${stuck} of its runs are silent.`,
      'Check its running executions, and terminate those that hang.',
    ),
    ...degraded(
      syncFailures >= maxFailedSyncs,
      `Its last ${syncFailures} syncs with its repository have failed.`,
      'Check its Git tab.',
    ),
  ]
}

function above(
  value: number | null,
  [warning, critical]: [number, number],
  about: { text: (value: number) => string; recommendation: string; worst: 'critical' | 'unhealthy' },
): Issue[] {
  if (value === null || value < Math.min(warning, critical)) return []
  const level = value >= critical ? about.worst : 'degraded'
  return [{ level, text: about.text(value), recommendation: about.recommendation }]
}

/** 0 to 1; null while too few runs have ended. */
function errorRate({ success, failed }: Pick<AgentState, 'success' | 'failed'>): number | null {
  return success + failed < minRuns ? null : failed / (success + failed)
}

/** Share of running in percent of `checks`; null without checks. */
export function uptimePercent(checks: readonly { isUp: boolean; total: number }[]): number | null {
  const total = checks.reduce((sum, each) => sum + each.total, 0)
  const up = checks.reduce((sum, each) => sum + (each.isUp ? each.total : 0), 0)
  return total === 0 ? null : Math.round((up / total) * 1000) / 10
}
