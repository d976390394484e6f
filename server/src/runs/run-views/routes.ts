import { createRunView, deleteRunView, listRunViews, updateRunView } from '@roost/contracts/runs/run-views'
import { type Route, signedInRoute } from '../../http/route.ts'
import type { RunViews } from './service.ts'

export function runViewRoutes(views: RunViews): Route[] {
  return [
    signedInRoute(listRunViews, ({ caller }) => views.list(caller)),
    signedInRoute(createRunView, async ({ caller, body, request }) => {
      const view = await views.create(caller, body)
      request.note({ view_id: view.id, shared: view.shared })
      return view
    }),
    signedInRoute(updateRunView, ({ caller, params, body, request }) => {
      request.note({ view_id: params.id.slice(0, 64), fields: Object.keys(body) })
      return views.update(caller, params.id, body)
    }),
    signedInRoute(deleteRunView, async ({ caller, params, request }) => {
      request.note({ view_id: params.id.slice(0, 64) })
      await views.remove(caller, params.id)
      return { message: 'The view is deleted.', id: params.id }
    }),
  ]
}
