import { z } from 'zod'
import { isFault } from '../../kit/fault.ts'
import type { VoiceTool } from '../../ports/voice/port.ts'
import type { Dispatch, Source } from '../../runs/dispatch/index.ts'
import type { Executions } from '../../runs/executions/index.ts'
import type { CallRow } from './store.ts'

export const askAgentTool: VoiceTool = {
  name: 'ask_agent',
  description:
    'Ask the agent whose voice you are: it has the files, the tools and the memory, and can do things. It may take a minute; say so and go on talking.',
  parameters: {
    type: 'object',
    properties: {
      message: { type: 'string', description: 'What it is to find out or do, with all it needs.' },
    },
    required: ['message'],
  },
}

const Asked = z.object({ message: z.string().trim().min(1).max(8_000) })
/** As much as a voice can use. */
const longestAnswer = 8_000

export type AskAgentDeps = {
  dispatch: Pick<Dispatch, 'admit' | 'transaction' | 'acceptIn'>
  executions: Pick<Executions, 'watch'>
}

/** What the agent answers to the voice of a call; a task of its own, which goes on when the call has ended. */
export function createAskAgent({ dispatch, executions }: AskAgentDeps) {
  async function ask(call: CallRow, message: string, signal: AbortSignal): Promise<object> {
    const agent = await dispatch.admit(call.agent_id)
    const { row } = await dispatch.transaction((tx) =>
      dispatch.acceptIn(tx, agent, {
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
      return { error: error ?? `The agent's run was ${status}.` }
    }
    return { error: 'The call is over.' }
  }

  return async function askAgent(
    call: CallRow,
    args: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<object> {
    const asked = Asked.safeParse(args)
    if (!asked.success) return { error: 'message: a text of 1 to 8,000 characters is needed' }
    try {
      return await ask(call, asked.data.message, signal)
    } catch (error) {
      if (isFault(error)) return { error: error.message }
      throw error
    }
  }
}
