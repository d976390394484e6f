import { fileURLToPath } from 'node:url'
import { isObject, type Json, objectAt, textAt } from '../kit/json.ts'
import { createBlocks } from './blocks.ts'
import { endedWithoutResult, failed } from './faults.ts'
import type { Dialogue, Runtime, Setup, Step } from './port.ts'

/**
 * A runtime without a model, for tests of the code around runtimes. It has a real process (`fake-cli.ts`),
 * real lines, sessions in files, and the model-independent directives of the scripted model server.
 */
export const fake: Runtime = {
  name: 'claude-code',
  command: process.execPath,
  keepsAlive: (setup) => setup.kind === 'chat',
  async prepare(setup) {
    const args = [script, setup.places.state, setup.resumeSessionId ?? '']
    return {
      command: process.execPath,
      args,
      env: { FAKE_SYSTEM: setup.systemPrompt, NODE_NO_WARNINGS: '1' },
    }
  },
  converse,
}

const script = fileURLToPath(new URL('./fake-cli.ts', import.meta.url))

function converse(setup: Setup, now: () => number): Dialogue {
  let blocks = createBlocks()
  let sessionId = setup.resumeSessionId
  let startedAt = now()

  function end(line: Json): Step[] {
    const fault = textAt(line, 'fault')
    const usage = { input_tokens: 10, output_tokens: 10 }
    const metadata = {
      ...blocks.metadata(),
      session_id: sessionId,
      num_turns: blocks.turns(),
      ...(line.lost === true ? { session_lost: true } : {}),
      ...usage,
    }
    const outcome =
      fault === null
        ? {
            status: 'success' as const,
            response: blocks.response(),
            error: null,
            errorCode: null,
            terminalReason: 'completed' as const,
            metadata,
            sessionId,
          }
        : failed(
            { message: fault, status: typeof line.status === 'number' ? line.status : null },
            { metadata, sessionId, ...(line.lost === true ? { errorCode: 'agent_error' as const } : {}) },
          )
    const isError = fault !== null
    return [
      ...blocks.flush(),
      {
        do: 'line',
        line: {
          type: 'result',
          subtype: isError ? 'error' : 'success',
          is_error: isError,
          result: outcome.response ?? outcome.error,
          duration_ms: Math.round(now() - startedAt),
          num_turns: blocks.turns(),
          usage,
          session_id: sessionId,
        },
      },
      { do: 'end', outcome },
    ]
  }

  return {
    begin({ text, images }) {
      blocks = createBlocks()
      startedAt = now()
      return [{ do: 'write', text: `${JSON.stringify({ text, images: images.length })}\n` }]
    },
    read(line) {
      switch (textAt(line, 'say')) {
        case 'init': {
          sessionId = textAt(line, 'session')
          const init = { session_id: sessionId ?? '', model: 'fake', tools: [] }
          return [{ do: 'line', line: { type: 'system', subtype: 'init', ...init } }]
        }
        case 'piece':
          return blocks.text(textAt(line, 'text') ?? '')
        case 'call':
          return blocks.toolUse(textAt(line, 'id') ?? '', 'Bash', objectAt(line, 'input'))
        case 'answer':
          return blocks.toolResult(textAt(line, 'id') ?? '', textAt(line, 'text') ?? '', false)
        case 'end':
          return isObject(line) ? end(line) : []
        default:
          return []
      }
    },
    interrupt: () => `${JSON.stringify({ interrupt: true })}\n`,
    ended: (exit) =>
      endedWithoutResult(exit, { metadata: { ...blocks.metadata(), session_id: sessionId }, sessionId }),
  }
}
