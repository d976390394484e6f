import type { AgentMetrics } from '@roost/contracts/operations/agent-metrics'
import type { AgentManagement } from '../../agents/management/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { declaredMetrics, parseValues, viewMetric } from './rules.ts'

export type AgentMetricsDeps = {
  clock: Pick<Clock, 'now'>
  describe: Pick<AgentManagement['describe'], 'workspace'>
}

/** Reads an agent's metrics without waiting for an unavailable agent; these have no values. */
export function createAgentMetrics({ clock, describe }: AgentMetricsDeps) {
  return async function read(agent: Agent, signal: AbortSignal): Promise<AgentMetrics> {
    const { template, metricsText } = await describe.workspace(agent, signal)
    const values = metricsText === null ? null : parseValues(metricsText)
    return {
      agent_name: agent.name,
      metrics: declaredMetrics(template?.file.metrics ?? []).map((declared) =>
        viewMetric(declared, values?.get(declared.name)),
      ),
      read_at: values ? timestamp(clock.now()) : null,
    }
  }
}

export type ReadAgentMetrics = ReturnType<typeof createAgentMetrics>
