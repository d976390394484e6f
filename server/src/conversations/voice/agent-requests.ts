import type { VoiceServerMessage } from '@roost/contracts/conversations/voice'
import type { SignedIn } from '../../identity/access/caller.ts'
import { isFault } from '../../kit/fault.ts'
import { type Dispatch, sourceOf } from '../../runs/dispatch/index.ts'
import type { ExecutionRow, Executions } from '../../runs/executions/index.ts'
import { askTool, labelOf, maxOpenRequests, maxRequestLength, requestOf } from './rules.ts'
import { type CallRow, voiceStore } from './store.ts'

export type AgentRequestsDeps = {
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  executions: Pick<Executions, 'watch'>
}

export type ToolCall = { id: string; name: string; args: Record<string, unknown> }
/** The tool result for the voice, and its run; `executionId` is null when no run started. */
export type ToolAnswer = { result: object; executionId: string | null }

/** Passes the requests of one call to the agent and returns its answers. */
export function createAgentRequests(
  { dispatch, executions }: AgentRequestsDeps,
  of: { call: CallRow; caller: SignedIn; send(message: VoiceServerMessage): void; signal: AbortSignal },
) {
  const { call, caller, send, signal } = of
  let openRequests = 0

  const startRun = async (message: string): Promise<ExecutionRow> => {
    const agentContext = await dispatch.checkAgent(call.agent_id)
    return dispatch.transaction(async (tx) => {
      const { row } = await dispatch.enqueue(tx, agentContext, {
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

  /** Returns null when the call has ended; the run continues. */
  async function follow(row: ExecutionRow, label: string): Promise<ExecutionRow | null> {
    const sendTask = (state: string) => send({ type: 'task', task_id: row.id, state, label })
    sendTask(row.status)
    for await (const change of executions.watch(row.id, { lines: false, signal })) {
      if (change.kind === 'status') sendTask(change.status)
      if (change.kind !== 'end') continue
      sendTask(change.row.status)
      return change.row
    }
    return null
  }

  async function answerCall(toolCall: ToolCall): Promise<ToolAnswer | null> {
    const message = requestOf(toolCall.args)
    if (toolCall.name !== askTool.name) return refusal(`There is no tool ${toolCall.name}.`)
    if (message === null) return refusal(`message must be a text of 1 to ${maxRequestLength} characters.`)
    if (openRequests >= maxOpenRequests)
      return refusal('The agent still works on what you asked before: wait for it.')
    openRequests += 1
    try {
      const row = await startRun(message)
      const finished = await follow(row, labelOf(message))
      return finished && { result: resultOf(finished), executionId: finished.id }
    } catch (error) {
      if (isFault(error)) return refusal(error.message)
      throw error
    } finally {
      openRequests -= 1
    }
  }

  return {
    /** Returns null when the call has ended. Rethrows unexpected errors. */
    async ask(toolCall: ToolCall): Promise<ToolAnswer | null> {
      const { id, name } = toolCall
      send({ type: 'tool_call', id, name, args: toolCall.args })
      const answer = await answerCall(toolCall)
      if (answer) send({ type: 'tool_result', id, name, ok: 'answer' in answer.result })
      return answer
    },
  }
}

const refusal = (error: string): ToolAnswer => ({ result: { error }, executionId: null })

function resultOf(row: ExecutionRow): { answer: string } | { error: string } {
  if (row.status === 'success') return { answer: row.response ?? '' }
  if (row.status === 'cancelled') return { error: 'The work was stopped by somebody.' }
  return { error: row.error ?? 'The agent could not answer.' }
}
