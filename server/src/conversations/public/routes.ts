import * as chat from '@roost/contracts/conversations/public-chat'
import * as links from '@roost/contracts/conversations/public-links'
import { imageHeaders } from '../../agents/avatars/index.ts'
import { preferredWaitMs } from '../../http/prefer.ts'
import {
  type AgentCall,
  agentRoute,
  answer,
  originOf,
  type RequestInfo,
  type Route,
  route,
  streamAnswer,
} from '../../http/route.ts'
import { resumeAfter, streamHeaders } from '../../runs/executions/index.ts'
import type { OpenLink } from './resolve-link.ts'
import type { AdmittedLink, PublicChat } from './service.ts'

export function publicRoutes(publicChat: PublicChat): Route[] {
  return [...linkRoutes(publicChat), ...visitorRoutes(publicChat)]
}

/** For owners. */
function linkRoutes({ links: service, requireEnabled }: PublicChat): Route[] {
  const admit = async () => requireEnabled()
  const routes = [
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
  return routes.map((each) => ({ ...each, admit }))
}

function noteLink({ request }: Pick<AgentCall<unknown>, 'request'>, link_id: string): void {
  request.note({ link_id })
}

/** For visitors. The token is in the path or the body and never logged; notes name the link. */
function visitorRoutes(publicChat: PublicChat): Route[] {
  const { visitors, verification, talk, turns } = publicChat

  const lookUp = async (request: RequestInfo, token: string): Promise<AdmittedLink> => {
    const open = await publicChat.lookUp(token, request.ip)
    if (request.method !== 'GET') note(request, open)
    return open
  }

  return [
    route(chat.getPublicChat, async ({ params, request }) =>
      publicChat.view(await lookUp(request, params.token)),
    ),
    route(chat.getPublicPicture, async ({ params, request }) => {
      const { mediaType, bytes } = await publicChat.picture(await lookUp(request, params.token))
      return answer(bytes, { headers: { ...imageHeaders, 'content-type': mediaType } })
    }),
    route(chat.requestPublicCode, async ({ body, request }) => {
      request.note({ email: body.email })
      const { link } = await lookUp(request, body.token)
      const { expires_in_seconds } = await verification.request(link, {
        email: body.email,
        ...originOf(request),
      })
      return { message: 'A code is on its way to this address.', expires_in_seconds }
    }),
    route(chat.confirmPublicCode, async ({ body, request }) => {
      request.note({ email: body.email })
      const { link } = await lookUp(request, body.token)
      const { deviceMark, ...opened } = await verification.confirm(link, { ...body, ...originOf(request) })
      return answer({ verified: true as const, ...opened }, { headers: { 'set-cookie': deviceMark } })
    }),

    route(
      chat.sendPublicChat,
      async ({ params, body, request }) => {
        const open = await publicChat.openForMessage(params.token, request.ip)
        note(request, open)
        const accepted = await publicChat.accept(open, { ...body, ...identityOf(body, request) })
        const { row } = accepted.turn
        request.note({ execution_id: row.id })
        const headers = { 'x-execution-id': row.id }
        if (body.async_mode) {
          const session_id = accepted.visitor.sessionId
          return answer({ status: 'accepted' as const, execution_id: row.id, session_id }, { headers })
        }
        const call = { token: params.token, open, signal: request.signal }
        const preferredMs = preferredWaitMs(request.header('prefer'))
        return answer(await publicChat.wait(call, accepted, { preferredMs }), { headers })
      },
      { admit: ({ params, ip }) => publicChat.admitMessage(params.token ?? '', ip) },
    ),
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
      return turns.status(open, turnRequestOf(params, query, request))
    }),
    route(chat.streamPublicTurn, async ({ params, query, request }) => {
      const open = await lookUp(request, params.token)
      const after = resumeAfter(request.header('last-event-id'), query.after)
      const { partials } = query
      const turnRequest = turnRequestOf(params, query, request)
      const { executionId, events } = await turns.stream(open, turnRequest, { after, partials })
      const body = publicChat.stream({ token: params.token, open, signal: request.signal }, events)
      return streamAnswer('text/event-stream', body, {
        headers: { ...streamHeaders, 'x-execution-id': executionId },
      })
    }),
    route(chat.terminatePublicTurn, async ({ params, query, body, request }) => {
      const open = await lookUp(request, params.token)
      const view = body.session_token ? body : query
      const reply = await turns.terminate(open, turnRequestOf(params, view, request))
      request.note({ execution_id: reply.execution_id, outcome: reply.status })
      return reply
    }),
  ]
}

function note(request: RequestInfo, { link, agent }: OpenLink): void {
  request.note({ agent: agent.name, link_id: link.id })
}

/** Query and body take precedence over the header. */
function identityOf(fields: chat.PublicIdentity, request: RequestInfo): chat.PublicIdentity {
  const session_token = fields.session_token ?? request.header(chat.sessionTokenHeader)
  return { session_token, session_id: fields.session_id }
}

function turnRequestOf(
  { execution_id }: { execution_id: string },
  fields: Pick<chat.PublicIdentity, 'session_token'>,
  request: RequestInfo,
) {
  const sessionToken = fields.session_token ?? request.header(chat.sessionTokenHeader)
  return { executionId: execution_id, sessionToken }
}
