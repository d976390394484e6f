import * as endpoints from '@roost/contracts/conversations/chat-shares'
import { agentRoute, answer, type Route, signedInRoute } from '../../http/route.ts'
import type { ChatShares } from './shares.ts'

export function chatShareRoutes(shares: ChatShares): Route[] {
  return [
    agentRoute(endpoints.shareSession, async ({ caller, agent, params, body, request }) => {
      const share = await shares.create({ caller, agent }, params.id, body.username)
      request.note({ session_id: share.session_id, share_id: share.id, shared_with: share.username })
      return share
    }),
    agentRoute(endpoints.listSessionShares, ({ caller, agent, params }) =>
      shares.list({ caller, agent }, params.id),
    ),
    agentRoute(endpoints.revokeSessionShare, async ({ caller, agent, params, request }) => {
      const { id, session_id, user_id } = await shares.revoke({ caller, agent }, params.id, params.share_id)
      request.note({ session_id, share_id: id, of_user: user_id })
      return { share_id: id, revoked: true as const }
    }),

    signedInRoute(endpoints.listSharedConversations, ({ caller, query }) =>
      shares.listOf(caller, query.limit),
    ),
    signedInRoute(endpoints.getSharedConversation, async ({ caller, params, query }) => {
      const shown = await shares.read(caller, params.share_id, query)
      // No cache may keep it, because the share can end.
      return answer(shown, { headers: { 'cache-control': 'private, no-store' } })
    }),
    signedInRoute(endpoints.getSharedPicture, ({ caller, params }) =>
      shares.picture(caller, params.share_id, params.picture_id),
    ),
  ]
}
