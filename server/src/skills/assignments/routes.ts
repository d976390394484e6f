import * as endpoints from '@roost/contracts/skills/assignments'
import { agentRoute, type Route, signedInRoute } from '../../http/route.ts'
import type { Assignments } from './service.ts'

export function assignmentRoutes(assignments: Assignments): Route[] {
  return [
    signedInRoute(endpoints.listSkillAssignments, ({ caller }) => assignments.overview(caller)),
    agentRoute(endpoints.listAgentSkills, ({ agent }) => assignments.of(agent.id)),
    agentRoute(endpoints.putAgentSkills, async ({ agent, body, caller, request }) => {
      const result = await assignments.replace(agent, body.skills, caller.user.username)
      request.note({ skills: result.skills, delivery: result.delivery.status })
      return {
        success: true as const,
        agent_name: agent.name,
        skills_assigned: result.skills.length,
        ...result,
      }
    }),
    agentRoute(endpoints.assignAgentSkill, async ({ agent, params: { skill }, caller, request }) => {
      const delivery = await assignments.assign(agent, skill, caller.user.username)
      request.note({ skill, delivery: delivery.status })
      const message = `${skill} is assigned to ${agent.name}${deliveryWords[delivery.status]}.`
      return { success: true as const, message, skill, skill_name: skill, delivery }
    }),
    agentRoute(endpoints.unassignAgentSkill, async ({ agent, params: { skill }, request }) => {
      const result = await assignments.unassign(agent, skill)
      request.note({ skill, removed: result.removed })
      return { success: true as const, skill_name: skill, ...result }
    }),
  ]
}

const deliveryWords = {
  injected: ' and delivered',
  pending_start: '; it arrives with the next start',
  in_progress: '; its delivery continues',
  not_delivered: ' and not delivered yet',
}
