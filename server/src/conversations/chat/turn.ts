import type { FileNote, SessionMessageBody } from '@roost/contracts/conversations/chat'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import { checkFiles } from '../../runs/attachments/index.ts'
import { type Dispatch, modelOf, sourceOf, triggerOf } from '../../runs/dispatch/index.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import { titleOf } from './rules.ts'
import type { Party, Sessions } from './sessions.ts'
import { chatStore, type NewMessage, type SessionRow } from './store.ts'

export type TurnDeps = {
  clock: Pick<Clock, 'now'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  sessions: Sessions
  /** Name of an agent, for turns that an agent takes with another one. */
  agentName(agentId: string): Promise<string | null>
}

export type TurnAsked = Pick<SessionMessageBody, 'message' | 'model' | 'files' | 'timeout_seconds'> & {
  /** Null: the caller's current conversation. */
  sessionId: string | null
  /** Asked through the MCP server. */
  viaMcp: boolean
}

/** A turn that was taken in. */
export type Turn = { row: ExecutionRow; session: SessionRow; position: number }

/**
 * Takes a turn in: everything that may be refused is refused first, then run and user message are stored
 * together, so that a refused request leaves neither. `within` runs in the same transaction. Throws
 * `session_not_found`, `conflict`, `invalid_model`, `attachment_rejected`, `attachment_too_large`,
 * `agent_not_running`, `queue_full`.
 */
export function createTakeTurn({ clock, dispatch, sessions, agentName }: TurnDeps) {
  return async function takeTurn(
    party: Party,
    asked: TurnAsked,
    within: (tx: Tx, executionId: string) => Promise<void> = async () => {},
  ): Promise<Turn> {
    const { caller, agent } = party
    if (asked.sessionId !== null) refuseClosed(await sessions.own(party, asked.sessionId))
    const model = modelOf(asked.model)
    const files = checkFiles(asked.files)
    const fact = await dispatch.checkAgent(agent.id)
    const callingAgentId = caller.kind === 'key' && caller.key.scope === 'agent' ? caller.key.agent_id : null
    const callingAgent = callingAgentId === null ? null : await agentName(callingAgentId)

    return dispatch.transaction(async (tx) => {
      const store = chatStore(tx)
      const session =
        asked.sessionId === null
          ? await sessions.ensureCurrent(tx, party)
          : await store.session(asked.sessionId)
      if (!session) throw new Fault('session_not_found')
      refuseClosed(session)
      const { row, position } = await dispatch.enqueue(tx, fact, {
        agentId: agent.id,
        kind: 'chat',
        triggeredBy: triggerOf(caller, agent.id, {
          way: asked.sessionId === null ? 'chat' : 'session',
          viaMcp: asked.viaMcp,
        }),
        message: asked.message,
        source: sourceOf(caller, callingAgent),
        model,
        timeoutSeconds: asked.timeout_seconds ?? null,
        sessionId: session.id,
        attachments: files,
      })
      await store.addMessage(
        questionOf(row, { sessionId: session.id, files, now: clock.now() }),
        session.title === null ? { title: titleOf(asked.message) } : {},
      )
      await within(tx, row.id)
      return { row, session, position }
    })
  }
}

/** What the person said, as the conversation keeps it. */
export function questionOf(
  row: Pick<ExecutionRow, 'id' | 'message'>,
  of: { sessionId: string; files: readonly FileNote[]; now: Date },
): NewMessage {
  return {
    id: newId(),
    session_id: of.sessionId,
    role: 'user',
    content: row.message,
    timestamp: timestamp(of.now),
    source: 'text',
    execution_id: row.id,
    files: fileNotes(of.files),
    is_aside: 0,
    ...noFigures,
  }
}

/** What a message has none of until its turn has ended. */
export const noFigures = {
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
export function refuseClosed(session: SessionRow): void {
  if (session.status === 'closed') throw new Fault('conflict', 'This conversation is closed.')
}

/** What a message keeps of its files; null for none. */
export function fileNotes(files: readonly FileNote[]): string | null {
  if (files.length === 0) return null
  return JSON.stringify(files.map(({ name, mimetype, size }) => ({ name, mimetype, size })))
}
