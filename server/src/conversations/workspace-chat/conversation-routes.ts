import * as endpoints from '@roost/contracts/conversations/workspace-conversations'
import * as documentEndpoints from '@roost/contracts/conversations/workspace-documents'
import * as turnEndpoints from '@roost/contracts/conversations/workspace-turns'
import { disposition, safeHeaders } from '../../agents/workspace/index.ts'
import { preferredWaitMs } from '../../http/prefer.ts'
import { answer, type Route, type StreamAnswer, streamAnswer } from '../../http/route.ts'
import { executionEvents, resumeAfter, streamHeaders } from '../../runs/executions/index.ts'
import { asEvents, asLines, type Item, replayedItems } from '../chat/index.ts'
import type { SentTurn } from './chat.ts'
import { createBinding } from './endpoint-binding.ts'
import type { WorkspaceChat } from './service.ts'

/** The endpoints for one agent of the roster. */
export function conversationRoutes(workspace: WorkspaceChat): Route[] {
  const { conversations, turns, talk, replies, documents, executions, log } = workspace
  const { withAgent } = createBinding(workspace)

  return [
    withAgent(endpoints.listConversations, async ({ principal, agent }) => ({
      agent_name: agent.name,
      sessions: await conversations.list(principal, agent),
    })),
    withAgent(endpoints.createConversation, ({ principal, agent, body }) =>
      conversations.create(principal, agent, body.title ?? null),
    ),
    withAgent(endpoints.resetMain, ({ principal, agent }) => conversations.resetMain(principal, agent)),
    withAgent(endpoints.renameConversation, ({ principal, agent, params, body }) =>
      conversations.rename(principal, agent, params.id, body.title),
    ),
    withAgent(endpoints.getWorkspaceHistory, ({ principal, agent, query }) =>
      conversations.history(principal, agent, query),
    ),
    withAgent(endpoints.getWorkspacePicture, ({ principal, agent, params }) =>
      conversations.picture(principal, agent, { id: params.id, pictureId: params.picture_id }),
    ),

    withAgent(turnEndpoints.sendWorkspaceChat, async ({ principal, agent, body, request }) => {
      const key = request.header('idempotency-key')
      const preferredMs = preferredWaitMs(request.header('prefer'))
      const sent = await talk.send(principal, agent, body, { key, signal: request.signal, preferredMs })
      request.note({ execution_id: sent.executionId })
      return turnAnswer(sent)
    }),
    withAgent(turnEndpoints.streamWorkspaceChat, async ({ principal, agent, body, request }) => {
      const accepted = await talk.accept(principal, agent, body, request.header('idempotency-key'))
      const accept = request.header('accept')
      if (!accepted.turn) {
        const sent = await talk.replayOf(accepted.replay)
        const done = sent.reply ?? { execution_id: sent.executionId, session_id: sent.sessionId }
        return streamTurn(accept, replayedItems(done), sent)
      }
      const sent = { executionId: accepted.turn.row.id, isReplay: false }
      request.note({ execution_id: sent.executionId })
      return streamTurn(accept, talk.follow(principal, agent, accepted, request.signal), sent)
    }),
    withAgent(turnEndpoints.streamWorkspaceRun, async ({ principal, agent, params, query, request }) => {
      const row = await turns.own(principal, agent.id, params.id)
      const after = resumeAfter(request.header('last-event-id'), query.after)
      const body = replies.stream({ principal, agent, signal: request.signal }, (signal) =>
        executionEvents(executions.watch, row.id, { after, partials: true, isShown: true, signal, log }),
      )
      return streamAnswer('text/event-stream', body, { headers: streamHeaders })
    }),
    withAgent(turnEndpoints.terminateWorkspaceRun, async ({ principal, agent, params, request }) => {
      const row = await turns.own(principal, agent.id, params.id)
      request.note({ execution_id: row.id })
      return executions.terminate({ caller: principal.caller, agentId: agent.id, relation: 'shared' }, row.id)
    }),

    withAgent(turnEndpoints.rateWorkspaceReply, async ({ principal, agent, body }) => {
      const { target_id, rating } = body
      const comment = body.comment ?? null
      if (body.target_kind === 'message')
        return conversations.rate(principal, agent, { target_id, rating, comment })
      await workspace.rateReport(agent, principal.holder, { id: target_id, rating, comment })
      return { target_id, rating }
    }),

    withAgent(documentEndpoints.listDocuments, async ({ principal, agent }) => ({
      agent_name: agent.name,
      documents: await documents.list(principal, agent),
    })),
    withAgent(documentEndpoints.uploadDocument, async ({ principal, agent, body, request }) => {
      // A raw body arrives as bytes.
      const form = { body: body as unknown as Buffer, contentType: request.header('content-type') }
      const document = await documents.upload(principal, agent, form, request.signal)
      request.note({ document: document.filename })
      return document
    }),
    withAgent(documentEndpoints.downloadDocument, async ({ principal, agent, params, request }) => {
      const { name, size, bytes } = await documents.open(principal, agent, params.id, request.signal)
      const headers = {
        ...safeHeaders,
        'content-disposition': disposition('attachment', name),
        'content-length': String(size),
      }
      return streamAnswer('application/octet-stream', bytes, { headers })
    }),
    withAgent(documentEndpoints.deleteDocument, async ({ principal, agent, params, request }) => {
      await documents.remove(principal, agent, params.id, request.signal)
      return undefined
    }),
  ]
}

function headersOf({
  executionId,
  isReplay,
}: Pick<SentTurn, 'executionId' | 'isReplay'>): Record<string, string> {
  return { 'x-execution-id': executionId, ...(isReplay ? { 'x-idempotent-replay': 'true' } : {}) }
}

function turnAnswer(sent: SentTurn) {
  const headers = headersOf(sent)
  if (sent.reply) return answer(sent.reply, { headers })
  return answer({ execution_id: sent.executionId, session_id: sent.sessionId }, { status: 202, headers })
}

/** Server-sent events, unless `Accept` names JSON lines. */
function streamTurn(
  accept: string | undefined,
  items: AsyncIterable<Item>,
  sent: Pick<SentTurn, 'executionId' | 'isReplay'>,
): StreamAnswer {
  const all = { headers: { ...streamHeaders, ...headersOf(sent) } }
  return /application\/(x-)?ndjson/i.test(accept ?? '')
    ? streamAnswer('application/x-ndjson', asLines(items), all)
    : streamAnswer('text/event-stream', asEvents(items), all)
}
