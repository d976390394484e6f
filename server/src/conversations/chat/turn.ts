import type { SessionMessageBody, StoredFile } from '@roost/contracts/conversations/chat'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import { checkFiles } from '../../runs/attachments/index.ts'
import { type Dispatch, modelOf, sourceOf, triggerOf } from '../../runs/dispatch/index.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import { storePictures } from './pictures.ts'
import { titleOf } from './rules.ts'
import type { Party, Sessions } from './sessions.ts'
import { chatStore, type NewMessage, type SessionRow } from './store.ts'

export type TurnDeps = {
  clock: Pick<Clock, 'now'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  sessions: Sessions
  /** The name of an agent, for turns that an agent requests from another one. */
  agentName(agentId: string): Promise<string | null>
}

export type TurnRequest = Pick<SessionMessageBody, 'message' | 'model' | 'files' | 'timeout_seconds'> & {
  /** Null means the caller's current conversation. */
  sessionId: string | null
  /** Whether the request came through the MCP server. */
  viaMcp: boolean
}

/** An accepted turn. */
export type Turn = { row: ExecutionRow; session: SessionRow; position: number }

/**
 * Accepts a turn: validates first, then stores run and question together. `within` runs in the same transaction. Throws
 * `session_not_found`, `conflict`, `invalid_model`, `attachment_rejected`, `attachment_too_large`, `agent_not_running`,
 * `queue_full`.
 */
export function createAcceptTurn({ clock, dispatch, sessions, agentName }: TurnDeps) {
  return async function acceptTurn(
    party: Party,
    request: TurnRequest,
    within: (tx: Tx, executionId: string) => Promise<void> = async () => {},
  ): Promise<Turn> {
    const { caller, agent } = party
    if (request.sessionId !== null) requireOpen(await sessions.own(party, request.sessionId))
    const model = modelOf(request.model)
    const files = checkFiles(request.files)
    const agentContext = await dispatch.checkAgent(agent.id)
    const callingAgentId = caller.kind === 'key' && caller.key.scope === 'agent' ? caller.key.agent_id : null
    const callingAgent = callingAgentId === null ? null : await agentName(callingAgentId)

    return dispatch.transaction(async (tx) => {
      const store = chatStore(tx)
      const session =
        request.sessionId === null
          ? await sessions.ensureCurrent(tx, party)
          : await store.session(request.sessionId)
      if (!session) throw new Fault('session_not_found')
      requireOpen(session)
      const { row, position } = await dispatch.enqueue(tx, agentContext, {
        agentId: agent.id,
        kind: 'chat',
        triggeredBy: triggerOf(caller, agent.id, {
          way: request.sessionId === null ? 'chat' : 'session',
          viaMcp: request.viaMcp,
        }),
        message: request.message,
        source: sourceOf(caller, callingAgent),
        model,
        timeoutSeconds: request.timeout_seconds ?? null,
        sessionId: session.id,
        attachments: files,
      })
      const now = clock.now()
      const notes = await storePictures(tx, session, { files, now })
      // A new message returns an archived conversation to the list.
      await store.addMessage(questionOf(row, { sessionId: session.id, files: notes, now }), {
        archived_at: null,
        ...(session.title === null ? { title: titleOf(request.message) } : {}),
      })
      await within(tx, row.id)
      return { row, session, position }
    })
  }
}

/** The person's message as it is stored. */
export function questionOf(
  row: Pick<ExecutionRow, 'id' | 'message'>,
  details: { sessionId: string; files: readonly StoredFile[]; now: Date },
): NewMessage {
  return {
    id: newId(),
    session_id: details.sessionId,
    role: 'user',
    content: row.message,
    timestamp: timestamp(details.now),
    source: 'text',
    execution_id: row.id,
    files: details.files.length > 0 ? JSON.stringify(details.files) : null,
    is_aside: 0,
    ...emptyFigures,
  }
}

/** Initial values until the turn has ended. */
export const emptyFigures = {
  cost_micros: null,
  cost_estimated: 0,
  context_used: null,
  context_max: null,
  tool_calls: null,
  execution_time_ms: null,
  output_tokens: null,
  error_code: null,
  rating: null,
  voice_call_id: null,
}

/** Throws `conflict`. */
export function requireOpen(session: SessionRow): void {
  if (session.status === 'closed') throw new Fault('conflict', 'This conversation is closed.')
}
