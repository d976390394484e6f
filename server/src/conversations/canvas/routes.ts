import * as endpoints from '@roost/contracts/conversations/canvas'
import * as shareEndpoints from '@roost/contracts/conversations/canvas-shares'
import { agentRoute, answer, type Route, route } from '../../http/route.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { Fault } from '../../kit/fault.ts'
import { createBinding } from '../workspace-chat/index.ts'
import type { CanvasFeature } from './service.ts'

export function canvasRoutes({ canvases, shares, workspace }: CanvasFeature): Route[] {
  const { withAgent } = createBinding(workspace)
  return [
    agentRoute(endpoints.listCanvases, ({ agent }) => canvases.list(agent)),
    // Fixed path segments come before ids.
    agentRoute(shareEndpoints.listCanvasShares, ({ agent, query }) => shares.list(agent, query.canvas_id)),
    agentRoute(shareEndpoints.revokeCanvasShare, async ({ agent, params, request }) => {
      request.note({ share_id: params.share_id })
      await shares.revoke(agent, params.share_id)
      return { share_id: params.share_id, revoked: true as const }
    }),
    agentRoute(endpoints.deleteCanvases, async ({ agent, body, request }) => {
      const deleted = await canvases.remove(agent, body.canvas_ids)
      request.note({ canvas_ids: deleted })
      return { agent_name: agent.name, requested: body.canvas_ids.length, deleted }
    }),
    agentRoute(endpoints.getCanvas, ({ agent, params }) => canvases.read(agent, params.canvas_id)),
    agentRoute(endpoints.putCanvas, async ({ agent, caller, params, body, request }) => {
      requireWriter(caller, agent)
      request.note({ canvas_id: params.canvas_id })
      return canvases.put(agent, params.canvas_id, body)
    }),
    agentRoute(endpoints.patchCanvas, async ({ agent, caller, params, body, request }) => {
      requireWriter(caller, agent)
      request.note({ canvas_id: params.canvas_id })
      return canvases.patch(agent, params.canvas_id, body)
    }),
    agentRoute(endpoints.deleteCanvas, async ({ agent, params: { canvas_id }, request }) => {
      request.note({ canvas_id })
      const deleted = await canvases.remove(agent, [canvas_id])
      if (deleted.length === 0) throw new Fault('canvas_not_found')
      return { canvas_id, deleted: true as const }
    }),
    agentRoute(endpoints.pinCanvas, async ({ agent, params, body, request }) => {
      request.note({ canvas_id: params.canvas_id, pinned: body.pinned })
      return canvases.pin(agent, params.canvas_id, body.pinned)
    }),
    agentRoute(shareEndpoints.shareCanvas, async ({ agent, params, body, request }) => {
      const share = await shares.create(agent, params.canvas_id, body)
      request.note({ canvas_id: share.canvas_id, share_id: share.id, scope: share.scope })
      return share
    }),

    route(shareEndpoints.readSharedCanvas, async ({ params, request }) => {
      const viewer = { ip: request.ip, authorization: request.header('authorization') }
      const canvas = await shares.view(params.token, viewer)
      // No cache may keep the canvas, because the link can end.
      return answer(canvas, { headers: { 'cache-control': 'private, no-store' } })
    }),

    withAgent(endpoints.listRosterCanvases, ({ agent }) => canvases.list(agent, { rosterOnly: true })),
    withAgent(endpoints.getRosterCanvas, ({ agent, params }) =>
      canvases.read(agent, params.canvas_id, { rosterOnly: true }),
    ),
  ]
}

/** People with access and the agent itself write; other permitted agents only read. */
function requireWriter(caller: SignedIn, agent: { id: string }): void {
  const isAgent = caller.kind === 'key' && caller.key.scope === 'agent'
  if (isAgent && caller.key.agent_id !== agent.id) throw new Fault('agent_identity_required')
}
