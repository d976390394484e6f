import * as chat from '@roost/contracts/conversations/public-chat'
import * as links from '@roost/contracts/conversations/public-links'
import {
  type AgentCall,
  agentRoute,
  answer,
  type RequestFacts,
  type Route,
  route,
  streamAnswer,
} from '../../http/route.ts'
import { resumeAfter, streamHeaders } from '../../runs/executions/index.ts'
import { preferredWaitMs } from '../../runs/waiting/index.ts'
import type { OpenLink } from './resolve-link.ts'
import type { PublicChat } from './service.ts'

export function publicRoutes(publicChat: PublicChat): Route[] {
  return [...linkRoutes(publicChat), ...visitorRoutes(publicChat)]
}

/** For owners. */
function linkRoutes({ links: service, refuseOff }: PublicChat): Route[] {
  const admit = async () => refuseOff()
  const bound = [
    agentRoute(links.listPublicLinks, ({ agent }) => service.list(agent)),
    agentRoute(links.createPublicLink, async (call) => {
      const link = await service.create(call.agent, call.body, call.caller)
      noteLink(call, link.id)
      return link
    }),
    agentRoute(links.getPublicLink, ({ agent, params }) => service.find(agent, params.id)),
    agentRoute(links.updatePublicLink, (call) => {
      noteLink(call, call.params.id)
      return service.update(call.agent, call.params.id, call.body)
    }),
    agentRoute(links.deletePublicLink, async (call) => {
      noteLink(call, call.params.id)
      await service.remove(call.agent, call.params.id)
      return { message: 'The link is deleted.', link_id: call.params.id }
    }),
  ]
  return bound.map((each) => ({ ...each, admit }))
}

function noteLink({ request }: Pick<AgentCall<unknown>, 'request'>, link_id: string): void {
  request.note({ link_id })
}

/** For visitors. The token is in the path or the body and is told to no log; notes name the link. */
function visitorRoutes(publicChat: PublicChat): Route[] {
  const { visitors, verification, talk, turns } = publicChat

  const lookUp = async (request: RequestFacts, token: string): Promise<OpenLink> => {
    const open = await publicChat.lookUp(token, request.ip)
    if (request.method !== 'GET') note(request, open)
    return open
  }

  return [
    route(chat.getPublicChat, async ({ params, request }) =>
      publicChat.shown(await lookUp(request, params.token)),
    ),
    route(chat.requestPublicCode, async ({ body, request }) => {
      request.note({ email: body.email })
      const { link } = await lookUp(request, body.token)
      const { expires_in_seconds } = await verification.request(link, body.email)
      return { message: 'A code is on its way to this address.', expires_in_seconds }
    }),
    route(chat.confirmPublicCode, async ({ body, request }) => {
      request.note({ email: body.email })
      const { link } = await lookUp(request, body.token)
      const opened = await verification.confirm(link, { ...body, ip: request.ip })
      return { verified: true as const, ...opened }
    }),

    route(chat.sendPublicChat, async ({ params, body, request }) => {
      const open = await publicChat.speak(params.token, request.ip)
      note(request, open)
      const taken = await publicChat.take(open, { ...body, ...identityOf(body, request) })
      const { row } = taken.turn
      request.note({ execution_id: row.id })
      const headers = { 'x-execution-id': row.id }
      if (body.async_mode) {
        const session_id = taken.visitor.sessionId
        return answer({ status: 'accepted' as const, execution_id: row.id, session_id }, { headers })
      }
      const call = { token: params.token, open, signal: request.signal }
      const preferredMs = preferredWaitMs(request.header('prefer'))
      return answer(await publicChat.wait(call, taken, { preferredMs }), { headers })
    }),
    route(chat.getPublicHistory, async ({ params, query, request }) => {
      const { link } = await lookUp(request, params.token)
      const visitor = await visitors.of(link, identityOf(query, request))
      return { ...(await talk.history(visitor)), session_id: visitor?.sessionId ?? null }
    }),
    route(chat.resetPublicChat, async ({ params, query, request }) => {
      const open = await lookUp(request, params.token)
      return talk.reset(open, await visitors.of(open.link, identityOf(query, request)))
    }),

    route(chat.getPublicTurn, async ({ params, query, request }) => {
      const open = await lookUp(request, params.token)
      return turns.status(open, askedTurn(params, query, request))
    }),
    route(chat.streamPublicTurn, async ({ params, query, request }) => {
      const open = await lookUp(request, params.token)
      const after = resumeAfter(request.header('last-event-id'), query.after)
      const { partials } = query
      const asked = askedTurn(params, query, request)
      const { executionId, events } = await turns.stream(open, asked, { after, partials })
      const body = publicChat.stream({ token: params.token, open, signal: request.signal }, events)
      return streamAnswer('text/event-stream', body, {
        headers: { ...streamHeaders, 'x-execution-id': executionId },
      })
    }),
    route(chat.terminatePublicTurn, async ({ params, query, body, request }) => {
      const open = await lookUp(request, params.token)
      const shown = body.session_token ? body : query
      const reply = await turns.terminate(open, askedTurn(params, shown, request))
      request.note({ execution_id: reply.execution_id, outcome: reply.status })
      return reply
    }),
  ]
}

function note(request: RequestFacts, { link, agent }: OpenLink): void {
  request.note({ agent: agent.name, link_id: link.id })
}

/** Query or body win over the header. */
function identityOf(given: chat.PublicIdentity, request: RequestFacts): chat.PublicIdentity {
  const session_token = given.session_token ?? request.header(chat.sessionTokenHeader)
  return { session_token, session_id: given.session_id }
}

function askedTurn(
  { execution_id }: { execution_id: string },
  given: Pick<chat.PublicIdentity, 'session_token'>,
  request: RequestFacts,
) {
  const sessionToken = given.session_token ?? request.header(chat.sessionTokenHeader)
  return { executionId: execution_id, sessionToken }
}
