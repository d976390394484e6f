import { isFault } from '../../kit/fault.ts'
import type { Dispatch, Source } from '../../runs/dispatch/index.ts'
import type { Executions } from '../../runs/executions/index.ts'
import { askedOf, asksAtOnce, longestAsk } from '../voice/index.ts'
import type { CallRow } from './store.ts'

export type AskAgentDeps = {
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  executions: Pick<Executions, 'watch'>
}

/** As much as a voice can use. */
const longestAnswer = 8_000

/**
 * Brings what the voice of one call asks to its agent: each a task of its own, which goes on when the call has
 * ended. The answer says what the voice is told.
 */
export function createAskAgent({ dispatch, executions }: AskAgentDeps, call: CallRow, signal: AbortSignal) {
  let open = 0

  async function ask(message: string): Promise<object> {
    const agent = await dispatch.checkAgent(call.agent_id)
    const { row } = await dispatch.transaction((tx) =>
      dispatch.enqueue(tx, agent, {
        agentId: call.agent_id,
        kind: 'task',
        triggeredBy: 'voip',
        message,
        systemPrompt: `You are asked in the middle of a telephone call to ${call.to_number}: answer in a few spoken sentences.`,
        // Written by this feature when the call was made.
        source: JSON.parse(call.source) as Source,
        links: { parentExecutionId: call.execution_id },
      }),
    )
    for await (const told of executions.watch(row.id, { lines: false, signal })) {
      if (told.kind !== 'end') continue
      const { status, response, error } = told.row
      if (status === 'success') return { answer: (response ?? '').slice(0, longestAnswer).toWellFormed() }
      return { error: error ?? 'The agent could not answer.' }
    }
    return { error: 'The call is over.' }
  }

  return async function askAgent(args: Record<string, unknown>): Promise<object> {
    const message = askedOf(args)
    if (message === null) return { error: `message must be a text of 1 to ${longestAsk} characters.` }
    if (open >= asksAtOnce) {
      return { error: 'The agent still works on what you asked before: wait for it.' }
    }
    open += 1
    try {
      return await ask(message)
    } catch (error) {
      if (isFault(error)) return { error: error.message }
      throw error
    } finally {
      open -= 1
    }
  }
}
