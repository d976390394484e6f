import * as endpoints from '@roost/contracts/skills/sources'
import { type Route, route, signedInRoute } from '../../http/route.ts'
import type { Sources } from './service.ts'

export function sourceRoutes(sources: Sources): Route[] {
  return [
    route(endpoints.listSkillSources, async () => ({ sources: await sources.list() })),
    signedInRoute(endpoints.createSkillSource, async ({ body, caller, request }) => {
      const source = await sources.create(body, caller.user.username)
      request.note({ source_id: source.id, name: source.name, url: source.url, ref: source.ref })
      return source
    }),
    route(endpoints.updateSkillSource, async ({ params, body, request }) => {
      request.note({ source_id: params.id, fields: Object.keys(body) })
      return sources.update(params.id, body)
    }),
    route(endpoints.deleteSkillSource, async ({ params, request }) => {
      request.note({ source_id: params.id })
      await sources.remove(params.id)
      return { deleted: true as const, source_id: params.id }
    }),
  ]
}
