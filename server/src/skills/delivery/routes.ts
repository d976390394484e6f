import { injectAgentSkills } from '@roost/contracts/skills/assignments'
import {
  getSkillsLibrarySettings,
  putSkillsLibrarySettings,
  type SkillsLibrarySettings,
} from '@roost/contracts/skills/library'
import { agentRoute, type Route, route } from '../../http/route.ts'
import type { Fleet } from './fleet.ts'
import type { Delivery } from './service.ts'

export type DeliveryRoutesDeps = {
  delivery: Pick<Delivery, 'inject'>
  fleet: Pick<Fleet, 'lastReport'>
  settings: {
    skillsLibrary(): SkillsLibrarySettings
    putSkillsLibrary(patch: Partial<SkillsLibrarySettings>): Promise<void>
  }
}

export function deliveryRoutes({ delivery, fleet, settings }: DeliveryRoutesDeps): Route[] {
  return [
    agentRoute(injectAgentSkills, async ({ agent, body, request }) => {
      const done = await delivery.inject(agent.id, body.force)
      request.note({ force: body.force, injected: done.skills_injected, failed: done.skills_failed })
      return done
    }),
    route(getSkillsLibrarySettings, async () => ({
      ...settings.skillsLibrary(),
      last_fleet_report: await fleet.lastReport(),
    })),
    route(putSkillsLibrarySettings, async ({ body, request }) => {
      request.note({ ...body })
      await settings.putSkillsLibrary(body)
      return settings.skillsLibrary()
    }),
  ]
}
