import * as endpoints from '@roost/contracts/conversations/workspace-conversations'
import * as documentEndpoints from '@roost/contracts/conversations/workspace-documents'
import * as turnEndpoints from '@roost/contracts/conversations/workspace-turns'
import { disposition, safeHeaders } from '../../agents/workspace/index.ts'
import { answer, type Route, type StreamAnswer, streamAnswer } from '../../http/route.ts'
import { executionEvents, resumeAfter, streamHeaders } from '../../runs/executions/index.ts'
import { preferredWaitMs } from '../../runs/waiting/index.ts'
import { asEvents, asLines, type Item, replayedItems } from '../chat/index.ts'
import { createBinding } from './bound.ts'
import type { Said } from './chat.ts'
import type { WorkspaceChat } from './service.ts'

/** What a person does with one agent of the roster. */
export function conversationRoutes(workspace: WorkspaceChat): Route[] {
  const { conversations, turns, talk, following, documents, executions, log } = workspace
  const { withAgent } = createBinding(workspace)

  return [
    withAgent(endpoints.listConversations, async ({ who, agent }) => ({
      agent_name: agent.name,
      sessions: await conversations.list(who, agent),
    })),
    withAgent(endpoints.createConversation, ({ who, agent, body }) =>
      conversations.create(who, agent, body.title ?? null),
    ),
    withAgent(endpoints.resetMain, ({ who, agent }) => conversations.resetMain(who, agent)),
    withAgent(endpoints.renameConversation, ({ who, agent, params, body }) =>
      conversations.rename(who, agent, params.id, body.title),
    ),
    withAgent(endpoints.getWorkspaceHistory, ({ who, agent, query }) =>
      conversations.history(who, agent, query),
    ),

    withAgent(turnEndpoints.sendWorkspaceChat, async ({ who, agent, body, request }) => {
      const key = request.header('idempotency-key')
      const preferredMs = preferredWaitMs(request.header('prefer'))
      const said = await talk.say(who, agent, body, { key, signal: request.signal, preferredMs })
      request.note({ execution_id: said.executionId })
      return saidAnswer(said)
    }),
    withAgent(turnEndpoints.streamWorkspaceChat, async ({ who, agent, body, request }) => {
      const taken = await talk.take(who, agent, body, request.header('idempotency-key'))
      const accept = request.header('accept')
      if (!taken.turn) {
        const said = await talk.saidBefore(taken.replay)
        const done = said.reply ?? { execution_id: said.executionId, session_id: said.sessionId }
        return streamed(accept, replayedItems(done), said)
      }
      const said = { executionId: taken.turn.row.id, isReplay: false }
      request.note({ execution_id: said.executionId })
      return streamed(accept, talk.follow(who, agent, taken, request.signal), said)
    }),
    withAgent(turnEndpoints.streamWorkspaceRun, async ({ who, agent, params, query, request }) => {
      const row = await turns.own(who, agent.id, params.id)
      const after = resumeAfter(request.header('last-event-id'), query.after)
      const body = following.stream({ who, agent, signal: request.signal }, (signal) =>
        executionEvents(executions.watch, row.id, { after, partials: true, isShown: true, signal, log }),
      )
      return streamAnswer('text/event-stream', body, { headers: streamHeaders })
    }),
    withAgent(turnEndpoints.terminateWorkspaceRun, async ({ who, agent, params, request }) => {
      const row = await turns.own(who, agent.id, params.id)
      request.note({ execution_id: row.id })
      return executions.terminate({ caller: who.caller, agentId: agent.id, relation: 'shared' }, row.id)
    }),

    withAgent(turnEndpoints.rateWorkspaceReply, async ({ who, agent, body }) => {
      const { target_id, rating } = body
      const comment = body.comment ?? null
      if (body.target_kind === 'message')
        return conversations.rate(who, agent, { target_id, rating, comment })
      await workspace.rateReport(agent, who.holder, { id: target_id, rating, comment })
      return { target_id, rating }
    }),

    withAgent(documentEndpoints.listDocuments, async ({ who, agent }) => ({
      agent_name: agent.name,
      documents: await documents.list(who, agent),
    })),
    withAgent(documentEndpoints.uploadDocument, async ({ who, agent, body, request }) => {
      // Of a raw body the bytes as they came.
      const form = { body: body as unknown as Buffer, contentType: request.header('content-type') }
      const document = await documents.upload(who, agent, form, request.signal)
      request.note({ document: document.filename })
      return document
    }),
    withAgent(documentEndpoints.downloadDocument, async ({ who, agent, params, request }) => {
      const { name, size, bytes } = await documents.open(who, agent, params.id, request.signal)
      const headers = {
        ...safeHeaders,
        'content-disposition': disposition('attachment', name),
        'content-length': String(size),
      }
      return streamAnswer('application/octet-stream', bytes, { headers })
    }),
    withAgent(documentEndpoints.deleteDocument, async ({ who, agent, params, request }) => {
      await documents.remove(who, agent, params.id, request.signal)
      return undefined
    }),
  ]
}

function headersOf({
  executionId,
  isReplay,
}: Pick<Said, 'executionId' | 'isReplay'>): Record<string, string> {
  return { 'x-execution-id': executionId, ...(isReplay ? { 'x-idempotent-replay': 'true' } : {}) }
}

function saidAnswer(said: Said) {
  const headers = headersOf(said)
  if (said.reply) return answer(said.reply, { headers })
  return answer({ execution_id: said.executionId, session_id: said.sessionId }, { status: 202, headers })
}

/** Server-sent events unless JSON lines are asked for by name. */
function streamed(
  accept: string | undefined,
  items: AsyncIterable<Item>,
  said: Pick<Said, 'executionId' | 'isReplay'>,
): StreamAnswer {
  const all = { headers: { ...streamHeaders, ...headersOf(said) } }
  return /application\/(x-)?ndjson/i.test(accept ?? '')
    ? streamAnswer('application/x-ndjson', asLines(items), all)
    : streamAnswer('text/event-stream', asEvents(items), all)
}
