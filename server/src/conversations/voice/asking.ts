import type { VoiceServerMessage } from '@roost/contracts/conversations/voice'
import type { SignedIn } from '../../identity/access/caller.ts'
import { isFault } from '../../kit/fault.ts'
import { type Dispatch, sourceOf } from '../../runs/dispatch/index.ts'
import type { ExecutionRow, Executions } from '../../runs/executions/index.ts'
import { askedOf, asksAtOnce, askTool, labelOf, longestAsk } from './rules.ts'
import { type CallRow, voiceStore } from './store.ts'

export type AskingDeps = {
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  executions: Pick<Executions, 'watch'>
}

export type Asked = { id: string; name: string; args: Record<string, unknown> }
/** What the voice is told, and the run that it tells of; null when there was none. */
export type Told = { result: object; executionId: string | null }

/** Takes the turns of one call to the agent and brings its answers back. */
export function createAsking(
  { dispatch, executions }: AskingDeps,
  of: { call: CallRow; caller: SignedIn; tell(message: VoiceServerMessage): void; signal: AbortSignal },
) {
  const { call, caller, tell, signal } = of
  let open = 0

  const accept = async (message: string): Promise<ExecutionRow> => {
    const fact = await dispatch.checkAgent(call.agent_id)
    return dispatch.transaction(async (tx) => {
      const { row } = await dispatch.enqueue(tx, fact, {
        agentId: call.agent_id,
        kind: 'chat',
        triggeredBy: 'voice',
        message,
        source: sourceOf(caller, null),
        sessionId: call.session_id,
      })
      await voiceStore(tx).addAsk(row.id, call.id)
      return row
    })
  }

  /** Null: nobody waits any more; the run goes on. */
  async function follow(row: ExecutionRow, label: string): Promise<ExecutionRow | null> {
    const task = (state: string) => tell({ type: 'task', task_id: row.id, state, label })
    task(row.status)
    for await (const told of executions.watch(row.id, { lines: false, signal })) {
      if (told.kind === 'status') task(told.status)
      if (told.kind !== 'end') continue
      task(told.row.status)
      return told.row
    }
    return null
  }

  async function ask(asked: Asked): Promise<Told | null> {
    const message = askedOf(asked.args)
    if (asked.name !== askTool.name) return refusal(`There is no tool ${asked.name}.`)
    if (message === null) return refusal(`message must be a text of 1 to ${longestAsk} characters.`)
    if (open >= asksAtOnce) return refusal('The agent still works on what you asked before: wait for it.')
    open += 1
    try {
      const row = await accept(message)
      const ended = await follow(row, labelOf(message))
      return ended && { result: resultOf(ended), executionId: ended.id }
    } catch (error) {
      if (isFault(error)) return refusal(error.message)
      throw error
    } finally {
      open -= 1
    }
  }

  return {
    /** Null: nobody waits any more. Throws what is nobody's fault. */
    async ask(asked: Asked): Promise<Told | null> {
      const { id, name } = asked
      tell({ type: 'tool_call', id, name, args: asked.args })
      const told = await ask(asked)
      if (told) tell({ type: 'tool_result', id, name, ok: 'answer' in told.result })
      return told
    },
  }
}

const refusal = (error: string): Told => ({ result: { error }, executionId: null })

function resultOf(row: ExecutionRow): { answer: string } | { error: string } {
  if (row.status === 'success') return { answer: row.response ?? '' }
  if (row.status === 'cancelled') return { error: 'The work was stopped by somebody.' }
  return { error: row.error ?? 'The agent could not answer.' }
}
