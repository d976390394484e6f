import {
  executionStatuses,
  getExecution,
  getExecutionLog,
  listAgentExecutions,
  terminateExecution,
} from '@roost/contracts/runs/executions'
import { z } from 'zod'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

const executionId = z.string().min(1).describe('The execution_id that a tool gave you.')

export const executionTools: Tool[] = [
  tool({
    name: 'list_recent_executions',
    description: 'The newest runs of an agent with their status, cost, duration and cause, newest first.',
    audience: 'everyone',
    effect: 'read',
    hides: true,
    input: {
      agent_name: agentName,
      limit: z.number().int().min(1).max(100).default(20),
      status: z.enum(executionStatuses).optional().describe('Only runs in this state.'),
    },
    async run({ api }, { agent_name, limit, status }) {
      const executions = await api.call(listAgentExecutions, {
        params: { name: agent_name },
        query: { limit: String(limit), status },
      })
      return { agent_name, executions, count: executions.length }
    },
  }),
  tool({
    name: 'get_execution_result',
    isCore: true,
    description:
      'One run: its status, and once it is over its answer, cost and duration. While the status is queued or running, ask again in some seconds.',
    audience: 'everyone',
    effect: 'read',
    hides: true,
    input: {
      agent_name: agentName,
      execution_id: executionId,
      include_log: z
        .boolean()
        .default(false)
        .describe('true: with the whole transcript, every tool call included. It can be long.'),
    },
    async run({ api }, { agent_name, execution_id, include_log }) {
      const params = { name: agent_name, id: execution_id }
      const execution = await api.call(getExecution, { params })
      if (!include_log) return execution
      const { log } = await api.call(getExecutionLog, { params })
      return { ...execution, log }
    },
  }),
  tool({
    name: 'terminate_execution',
    description:
      'End a run that is queued or running. It is recorded as cancelled; what it did in the workspace stays.',
    audience: 'everyone',
    effect: 'destroy',
    hides: true,
    input: { agent_name: agentName, execution_id: executionId },
    run: ({ api }, { agent_name, execution_id }) =>
      api.call(terminateExecution, { params: { name: agent_name, id: execution_id } }),
  }),
]
