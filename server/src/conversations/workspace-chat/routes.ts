import * as endpoints from '@roost/contracts/conversations/workspace'
import * as conversationEndpoints from '@roost/contracts/conversations/workspace-conversations'
import { answer, originOf, type Route, route, signedInRoute } from '../../http/route.ts'
import { accountPrincipal, principalOf } from '../../identity/access/index.ts'
import { conversationRoutes } from './conversation-routes.ts'
import { createBinding } from './endpoint-binding.ts'
import { accountIdOf } from './principal.ts'
import type { WorkspaceChat } from './service.ts'

const codeSentMessage = 'If an agent is shared with this address, a code is on its way to it.'

/** Model aliases; the agents resolve them. */
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
      await signIn.requestCode({ email: call.body.email, ...originOf(call.request) })
      return { success: true as const, message: codeSentMessage }
    }),
    route(endpoints.verifyWorkspaceCode, async (call) => {
      call.request.note({ email: call.body.email })
      const { reply, account, deviceMark } = await signIn.verify({ ...call.body, ...originOf(call.request) })
      if (account) call.request.note({ username: account.username })
      call.request.actedBy({ id: account?.id ?? null, email: reply.email })
      return answer(reply, { headers: { 'set-cookie': deviceMark } })
    }),
    signedInRoute(endpoints.exchangeWorkspaceSession, async (call) => {
      call.request.note({ email: call.body.email })
      // The actor is the key; the note names the account whose session it opens.
      const { reply, account } = await signIn.exchange(call.caller, call.body.email)
      if (account) call.request.note({ username: account.username })
      return reply
    }),
    person(endpoints.leaveWorkspace, async ({ principal }) => {
      await principals.close(principal)
      return { status: 'logged_out' as const }
    }),

    person(endpoints.listMyAgents, async ({ principal }) => {
      const agents = await roster.agentsOf(principal)
      const unread = await conversations.unreadByAgent(principal, agents)
      return {
        client_email: principal.email,
        agents: await Promise.all(
          agents.map((agent) => roster.view(principal, agent, unread.get(agent.id) ?? 0)),
        ),
        model_options: modelOptions,
      }
    }),
    person(conversationEndpoints.listAllConversations, async ({ principal }) => ({
      sessions: await conversations.listAll(principal),
    })),
    person(conversationEndpoints.searchConversations, async ({ principal, query }) => ({
      query: query.q,
      results: await conversations.search(principal, query.q, query.limit),
    })),
    person(conversationEndpoints.starConversation, ({ principal, params, body }) =>
      conversations.star(principal, params.id, body.starred),
    ),
    person(conversationEndpoints.readConversation, ({ principal, params }) =>
      conversations.markRead(principal, params.id),
    ),

    person(endpoints.listAsks, async ({ principal }) => {
      const ids = (await roster.agentsOf(principal)).map(({ id }) => id)
      return { asks: principal.email === null ? [] : await asks.asksOf(principal.email, ids) }
    }),
    person(endpoints.answerAsk, async ({ principal, params, body }) => {
      const ids = (await roster.agentsOf(principal)).map(({ id }) => id)
      const id = accountIdOf(principal)
      // The answer may start a run, on behalf of the account or, if the session has only the rights of the share, of
      // the address.
      const isForAccount = id !== null && principalOf(principal.caller) === accountPrincipal(id)
      const responder = { id: isForAccount ? id : null, email: principal.email ?? '' }
      return asks.answer(responder, ids, params.id, body)
    }),

    person(endpoints.listClients, ({ principal, params }) => clients.list(principal, params.name)),
    person(endpoints.logOutClient, ({ principal, params }) =>
      clients.logOut(principal, params.name, params.email),
    ),
    person(endpoints.blockClient, ({ principal, params }) =>
      clients.block(principal, params.name, params.email),
    ),
    person(endpoints.unblockClient, ({ principal, params }) =>
      clients.unblock(principal, params.name, params.email),
    ),

    ...conversationRoutes(workspace),
  ]
}
