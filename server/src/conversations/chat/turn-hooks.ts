import type { Outbox } from '../../foundation/outbox/index.ts'
import { timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { ExecutionRow, Executions, RunHooks } from '../../runs/executions/index.ts'
import { isPerson, newAsides, withAsides, withHistory } from './rules.ts'
import { chatStore, type SessionRow } from './store.ts'
import { emptyFigures } from './turn.ts'

export type TurnHooksDeps = {
  events: Pick<Outbox, 'append'>
  executions: Pick<Executions, 'toolCalls'>
}

/** Messages sent along when the runtime has lost the conversation. */
const maxHistoryMessages = 200

/** Registers the conversation's part in its runs, in their transactions. */
export function registerTurnHooks(hooks: RunHooks, { events, executions }: TurnHooksDeps): void {
  /**
   * A turn resumes the runtime's session of the last turn and includes the asides since then. Without a session it
   * includes the messages since the last reset.
   */
  hooks.onTurn(async (tx, row) => {
    const store = chatStore(tx)
    const session = row.session_id === null ? null : await store.session(row.session_id)
    if (!session) return null
    const question = await store.messageOf(row.id, 'user')
    const earlier = await store.messages(session.id, maxHistoryMessages, {
      after: session.remembers_from,
      ...(question ? { before: question } : {}),
    })
    if (session.runtime_session_id !== null) {
      const message = withAsides(newAsides(earlier), row.message)
      return { message, resumeSessionId: session.runtime_session_id }
    }
    // Messages of a branch have no run here: they were never sent to this session's runtime.
    const isKnown = earlier.some(({ role, execution_id }) => role === 'assistant' || execution_id === null)
    const message = isKnown ? withHistory(earlier, row.message) : row.message
    return { message, resumeSessionId: null }
  })

  hooks.onSessionLost(async (tx, row) => {
    if (row.session_id === null) return false
    await chatStore(tx).dropRuntimeSession(row.session_id)
    return true
  })

  hooks.onEnded(async (tx, row, now) => {
    if (row.kind !== 'chat' || row.session_id === null) return
    const store = chatStore(tx)
    const session = await store.session(row.session_id)
    if (!session) return
    await store.noteTurn(session.id, {
      costMicros: row.cost_micros ?? 0,
      isCostEstimated: row.cost_estimated === 1,
      contextUsed: row.context_used,
      contextMax: row.context_max,
      runtimeSessionId: row.runtime_session_id,
    })
    if (row.triggered_by === 'voice') {
      // The voice feature stores the spoken lines; they replace the answer.
      if (row.status === 'success') await store.clearVoiceAsides(session.id, row.created_at)
    } else if (row.status === 'success') {
      const tools = await executions.toolCalls(tx, row.id)
      await store.addMessage({
        id: newId(),
        session_id: session.id,
        role: 'assistant',
        content: row.response ?? '',
        timestamp: timestamp(now),
        source: 'text',
        execution_id: row.id,
        files: null,
        is_aside: 0,
        ...figuresOf(row, tools),
      })
    } else {
      await store.markFailed(row.id, row.error_code ?? 'agent_error')
    }
    if (isPerson(session.holder_id)) await events.append(tx, readyEvent(session, row), now)
  })
}

/** The cost and usage of an answer. */
export function figuresOf(row: ExecutionRow, tools: readonly object[]) {
  return {
    ...emptyFigures,
    cost_micros: row.cost_micros,
    cost_estimated: row.cost_estimated,
    context_used: row.context_used,
    context_max: row.context_max,
    tool_calls: tools.length > 0 ? JSON.stringify(tools) : null,
    execution_time_ms: row.duration_ms,
    output_tokens: row.output_tokens,
  }
}

/** Notifies the person of the conversation that an answer is ready. */
export function readyEvent(
  session: SessionRow,
  row: { id: string; status: string; agent_id: string; agent_name: string },
) {
  return {
    type: 'chat.response_ready',
    agent_names: [row.agent_name],
    agent_ids: [row.agent_id],
    visible_to_user_id: session.user_id,
    fields: { execution_id: row.id, session_id: session.id, status: row.status },
  }
}
