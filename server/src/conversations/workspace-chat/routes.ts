import * as endpoints from '@roost/contracts/conversations/workspace'
import * as conversationEndpoints from '@roost/contracts/conversations/workspace-conversations'
import { type Route, route, signedInRoute } from '../../http/route.ts'
import { createBinding } from './bound.ts'
import { conversationRoutes } from './conversation-routes.ts'
import { accountIdOf } from './principal.ts'
import type { WorkspaceChat } from './service.ts'

const sent = 'If an agent is shared with this address, a code is on its way to it.'

/** Names of models that people understand; agents resolve them. */
const modelOptions = [
  { id: 'sonnet', label: 'Sonnet' },
  { id: 'opus', label: 'Opus' },
  { id: 'haiku', label: 'Haiku' },
]

export function workspaceChatRoutes(workspace: WorkspaceChat): Route[] {
  const { signIn, principals, roster, conversations, clients, asks } = workspace
  const { person } = createBinding(workspace)

  return [
    route(endpoints.requestWorkspaceCode, async (call) => {
      call.request.note({ email: call.body.email })
      await signIn.requestCode({ email: call.body.email, ip: call.request.ip })
      return { success: true as const, message: sent }
    }),
    route(endpoints.verifyWorkspaceCode, async (call) => {
      call.request.note({ email: call.body.email })
      const { reply, account } = await signIn.verify({ ...call.body, ip: call.request.ip })
      if (account) call.request.note({ username: account.username })
      call.request.actedBy({ id: accountIdOf(account, reply.email), email: reply.email })
      return reply
    }),
    signedInRoute(endpoints.exchangeWorkspaceSession, async (call) => {
      call.request.note({ email: call.body.email })
      // The actor is the key; whose session it opens is what the entry is about.
      const { reply, account } = await signIn.exchange(call.caller, call.body.email)
      if (account) call.request.note({ username: account.username })
      return reply
    }),
    person(endpoints.leaveWorkspace, async ({ who }) => {
      await principals.close(who)
      return { status: 'logged_out' as const }
    }),

    person(endpoints.listMyAgents, async ({ who }) => {
      const agents = await roster.agentsOf(who)
      const unread = await conversations.unreadByAgent(who, agents)
      return {
        client_email: who.email,
        agents: await Promise.all(agents.map((agent) => roster.shown(who, agent, unread.get(agent.id) ?? 0))),
        model_options: modelOptions,
      }
    }),
    person(conversationEndpoints.listAllConversations, async ({ who }) => ({
      sessions: await conversations.listAll(who),
    })),
    person(conversationEndpoints.searchConversations, async ({ who, query }) => ({
      query: query.q,
      results: await conversations.search(who, query.q, query.limit),
    })),
    person(conversationEndpoints.starConversation, ({ who, params, body }) =>
      conversations.star(who, params.id, body.starred),
    ),
    person(conversationEndpoints.readConversation, ({ who, params }) =>
      conversations.markRead(who, params.id),
    ),

    person(endpoints.listAsks, async ({ who }) => {
      const ids = (await roster.agentsOf(who)).map(({ id }) => id)
      return { asks: who.email === null ? [] : await asks.asksOf(who.email, ids) }
    }),
    person(endpoints.answerAsk, async ({ who, params, body }) => {
      const ids = (await roster.agentsOf(who)).map(({ id }) => id)
      const { user } = who.caller
      // Without an account there is only the address.
      const by = { id: user.id === who.holder ? null : user.id, email: who.email ?? '' }
      return asks.answer(by, ids, params.id, body)
    }),

    person(endpoints.listClients, ({ who, params }) => clients.list(who, params.name)),
    person(endpoints.logOutClient, ({ who, params }) => clients.logOut(who, params.name, params.email)),
    person(endpoints.blockClient, ({ who, params }) => clients.block(who, params.name, params.email)),
    person(endpoints.unblockClient, ({ who, params }) => clients.unblock(who, params.name, params.email)),

    ...conversationRoutes(workspace),
  ]
}
