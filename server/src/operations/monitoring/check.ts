import type { AgentStats } from '@roost/contracts/agents/health'
import type { MonitoringConfig } from '@roost/contracts/operations/monitoring-config'
import type { AgentGit } from '../../agents/git/index.ts'
import type { BeatState, ContextUse, Health } from '../../agents/health/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Breakers } from '../../runs/breaker/index.ts'
import { type AgentState, type Judgement, judge } from './rules.ts'
import { noRuns, type RunFigures, runFiguresStore, type SilentCandidate } from './runs-store.ts'

/** State and judgement of one agent. */
export type AgentCheck = {
  agent: Agent
  state: AgentState
  judgement: Judgement
  stats: AgentStats
  beat: BeatState
  context: ContextUse | null
  runs: RunFigures
  /** The run without output for the longest time. */
  stuckRun: string | null
}

export type CheckDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  health: Pick<Health, 'stats' | 'heartbeatOf' | 'linkConnected'>
  git: Pick<AgentGit, 'bindings'>
  breakers: Pick<Breakers, 'dispatchStates'>
  /** Context use of each agent's newest run. */
  contextOf(agentIds: readonly string[]): Promise<ReadonlyMap<string, ContextUse>>
  /** The platform's setting `dispatch_breaker_enabled`. */
  isPlatformEnabled(): boolean
  config(): MonitoringConfig
  /** Age from which a running run counts as long. */
  longRunSeconds(): number
}

export type CheckAgents = (agents: readonly Agent[]) => Promise<AgentCheck[]>

const recentSeconds = 3600

/** Judges agents by stored data; calls neither the engine nor an agent. */
export function createCheckAgents(deps: CheckDeps): CheckAgents {
  const { db, clock, health } = deps

  return async (agents) => {
    if (agents.length === 0) return []
    const now = clock.now()
    const config = deps.config()
    const silentSince = timestamp(secondsLater(now, -config.stuck_run_seconds))
    const store = runFiguresStore(db)
    const [figures, candidates, contexts, bindings, breakers] = await Promise.all([
      store.figures(
        timestamp(secondsLater(now, -recentSeconds)),
        timestamp(secondsLater(now, -deps.longRunSeconds())),
      ),
      store.runningSince(silentSince),
      deps.contextOf(agents.map(({ id }) => id)),
      deps.git.bindings(),
      deps.breakers.dispatchStates(),
    ])
    const silent = Map.groupBy(
      candidates.filter((run) => lastOutputAt(run) < silentSince),
      (run) => run.agent_id,
    )
    const syncs = new Map(bindings.map((binding) => [binding.agent_id, binding.consecutive_failures]))

    return agents.map((agent) => {
      const { id } = agent
      const stats = health.stats(agent)
      const beat = health.heartbeatOf(id)
      const context = contexts.get(id) ?? null
      const runs = figures.get(id) ?? noRuns()
      const stuck = silent.get(id) ?? []
      const { desired, status, exit_code, oom_killed, held } = agent
      const state: AgentState = {
        desired,
        status,
        exit_code,
        oom_killed,
        held,
        settledSeconds: (now.getTime() - Date.parse(agent.observed_at)) / 1000,
        isLinked: health.linkConnected(id),
        heartbeat: beat.heartbeat_state,
        cpu_percent: stats.cpu_percent === null ? null : rounded(stats.cpu_percent / Number(agent.cpu)),
        memory_percent: stats.memory_percent,
        context_percent: contextPercent(context),
        success: runs.success,
        failed: runs.failed,
        stuck: stuck.length,
        syncFailures: syncs.get(id) ?? 0,
        isRefused: agent.circuit_breaker_enabled && deps.isPlatformEnabled() && breakers.get(id) === 'open',
      }
      const judgement = judge(state, config)
      const stuckRun = stuck[0]?.id ?? null
      return { agent, state, judgement, stats, beat, context, runs, stuckRun }
    })
  }
}

/** Time of the run's claim or of its newest line, stored or left out. */
function lastOutputAt({ newest_line, left_out_at, started_at }: SilentCandidate): string {
  // Transcripts add the time to each line.
  const { _ts } = newest_line === null ? { _ts: '' } : (JSON.parse(newest_line) as { _ts: string })
  return [started_at, _ts, left_out_at ?? ''].toSorted().at(-1) ?? started_at
}

function contextPercent(context: ContextUse | null): number | null {
  if (!context || context.context_max === 0) return null
  return rounded((context.context_used / context.context_max) * 100)
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
