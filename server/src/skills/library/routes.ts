import * as endpoints from '@roost/contracts/skills/library'
import { syncSkillLibrary, syncSkillSource } from '@roost/contracts/skills/sources'
import { type Route, route, signedInRoute } from '../../http/route.ts'
import type { Library } from './service.ts'

export function libraryRoutes(library: Library): Route[] {
  return [
    route(endpoints.listSkillLibrary, () => library.list()),
    signedInRoute(endpoints.getSkillLibraryStatus, ({ caller }) => {
      const isWide = caller.kind === 'session' || caller.key.scope === 'user' || caller.key.scope === 'system'
      return library.status(caller.user.role === 'admin' && isWide)
    }),
    route(endpoints.getLibrarySkill, ({ params }) => library.detail(params.name)),
    route(syncSkillLibrary, () => library.syncAll('sync')),
    route(syncSkillSource, ({ params, request }) => {
      request.note({ source_id: params.id })
      return library.syncSource(params.id, 'sync')
    }),
  ]
}
