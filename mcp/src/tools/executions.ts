import {
  executionErrorCodes,
  executionStatuses,
  getExecution,
  getExecutionLog,
  listAgentExecutions,
  terminateExecution,
  triggers,
} from '@roost/contracts/runs/executions'
import { z } from 'zod'
import { asQuery, pathOf, queryOf, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName, reasons, words } from './parameters.ts'

const byId = { as: { '{id}': 'execution_id' } }
const one = {
  agent_name: agentName,
  execution_id: pathOf(getExecution).id.describe('The execution_id that a tool returned.'),
} as const

export const executionTools: Tool[] = [
  tool({
    name: 'list_recent_executions',
    description: 'The newest runs of an agent with status, cost, duration and trigger.',
    audience: 'everyone',
    effect: 'read',
    hides: true,
    requests: [
      request(listAgentExecutions, {
        leftOut: {
          of_schedules: 'get_schedule_executions lists the runs of schedules.',
          include: 'Applies to the runs of schedules.',
        },
        differs: {
          limit: 'The MCP contract allows at most 100; each item is long for a model.',
          status: reasons.values,
          triggered_by: reasons.values,
          error: reasons.values,
        },
      }),
    ],
    input: {
      agent_name: agentName,
      limit: z.number().int().min(1).max(100).default(20).describe(words.limit),
      offset: queryOf(listAgentExecutions).offset.describe(words.offset),
      status: z.enum(executionStatuses).optional().describe('Only runs with this status.'),
      triggered_by: z.enum(triggers).optional().describe('Only runs with this trigger.'),
      error: z.enum(executionErrorCodes).optional().describe('Only runs with this error code.'),
    },
    async run({ api }, { agent_name, ...query }) {
      const params = { name: agent_name }
      const executions = await api.call(listAgentExecutions, { params, query: asQuery(query) })
      return { agent_name, executions, count: executions.length }
    },
  }),
  tool({
    name: 'get_execution_result',
    isCore: true,
    description:
      'One run: its status and, once it has ended, its answer, cost and duration. While the status is queued or running, ask again after some seconds.',
    audience: 'everyone',
    effect: 'read',
    hides: true,
    requests: [
      request(getExecution, byId),
      request(getExecutionLog, { ...byId, when: { include_log: true } }),
    ],
    own: { include_log: 'Adds the request for the transcript.' },
    input: {
      ...one,
      include_log: z
        .boolean()
        .default(false)
        .describe('true: with the whole transcript, including every tool call. It can be long.'),
    },
    async run({ api }, { agent_name, execution_id, include_log }) {
      const params = { name: agent_name, id: execution_id }
      const execution = await api.call(getExecution, { params })
      if (!include_log) return execution
      const { log } = await api.call(getExecutionLog, { params })
      if (execution.log_removed_at === null) return { ...execution, log }
      return {
        ...execution,
        log,
        log_note: 'Retention removed the transcript of this run. Nothing else is missing.',
      }
    },
  }),
  tool({
    name: 'terminate_execution',
    description:
      'End a queued or running run. It is recorded as cancelled; its changes in the workspace stay.',
    audience: 'everyone',
    effect: 'destroy',
    hides: true,
    requests: [request(terminateExecution, byId)],
    input: one,
    run: ({ api }, { agent_name, execution_id }) =>
      api.call(terminateExecution, { params: { name: agent_name, id: execution_id } }),
  }),
]
