import { listPlaybooks, runPlaybook } from '@roost/contracts/runs/playbooks'
import { TaskBody } from '@roost/contracts/runs/tasks'
import { type AgentRecords, requireAgent } from '../../agents/records/index.ts'
import { agentRoute, type Route } from '../../http/route.ts'
import { answerTask, type Tasks } from '../tasks/index.ts'
import type { Playbooks } from './service.ts'

export function playbookRoutes({
  playbooks,
  tasks,
  agentRecords,
}: {
  playbooks: Playbooks
  tasks: Tasks
  agentRecords: Pick<AgentRecords, 'byId'>
}): Route[] {
  return [
    agentRoute(listPlaybooks, async ({ agent, caller, request }) => {
      const record = await requireAgent(agentRecords, agent.id)
      const found = await playbooks.list(record, caller, request.signal)
      return { playbooks: found, count: found.length }
    }),
    agentRoute(runPlaybook, async (call) => {
      const { params, caller, request } = call
      const { input, ...rest } = call.body
      const agent = await requireAgent(agentRecords, call.agent.id)
      request.note({ playbook: params.playbook.slice(0, 100) })
      const selection = { playbook: params.playbook, input }
      const message = await playbooks.messageFor(agent, caller, selection, request.signal)
      return answerTask(tasks, call, TaskBody.parse({ message, ...rest }))
    }),
  ]
}
