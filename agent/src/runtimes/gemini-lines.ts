import type { RunMetadata } from '@roost/contracts/link/runs'
import { countAt, type Json, numberAt, objectAt, textAt } from '../kit/json.ts'
import { createBlocks } from './blocks.ts'
import { endedWithoutResult, failed } from './faults.ts'
import type { Dialogue, Exit, Outcome, Setup, Step } from './port.ts'

/** One headless turn of Gemini CLI with `stream-json` output. */
export function converseLines(setup: Setup): Dialogue {
  let userMessage = ''
  const blocks = createBlocks()
  let sessionId = setup.resumeSessionId
  let model = setup.model
  let status: number | null = null

  const metadata = () => ({ ...blocks.metadata(), session_id: sessionId, model_used: model })

  function readResult(line: Json): Step[] {
    const stats = objectAt(line, 'stats')
    const usage = {
      input_tokens: countAt(stats, 'input_tokens'),
      output_tokens: countAt(stats, 'output_tokens'),
      cache_read_input_tokens: countAt(stats, 'cached'),
    }
    model = Object.keys(objectAt(stats, 'models'))[0] ?? model
    const isError = textAt(line, 'status') !== 'success'
    const about = {
      ...metadata(),
      cost_usd: null,
      duration_ms: countAt(stats, 'duration_ms'),
      num_turns: blocks.turns(),
      input_tokens: usage.input_tokens,
      output_tokens: usage.output_tokens,
      cache_read_tokens: usage.cache_read_input_tokens,
    }
    const message = textAt(objectAt(line, 'error'), 'message') ?? 'The turn failed.'
    if (isError && isBrokenStream(message) && sessionId) return continueTurn(message, about)
    const outcome: Outcome = isError
      ? failed(
          { message, status: statusIn(message) ?? status },
          {
            metadata: about,
            sessionId,
            ...(isTurnLimit(message) ? { errorCode: 'max_turns' as const } : {}),
          },
        )
      : {
          status: 'success',
          response: blocks.response(),
          error: null,
          errorCode: null,
          terminalReason: 'completed',
          metadata: about,
          sessionId,
        }
    return [
      ...blocks.flush(),
      {
        do: 'line',
        line: {
          type: 'result',
          subtype: isError ? 'error' : 'success',
          is_error: isError,
          result: outcome.response ?? outcome.error,
          duration_ms: about.duration_ms,
          num_turns: about.num_turns,
          usage,
          session_id: sessionId,
        },
      },
      { do: 'end', outcome },
    ]
  }

  /**
   * A session without an answer cannot be resumed, but then no tool has run either and the message can be
   * repeated.
   */
  function continueTurn(message: string, about: RunMetadata): Step[] {
    const hasActed = (about.tool_count ?? 0) > 0
    const outcome = failed(
      { message },
      { metadata: about, sessionId: hasActed ? sessionId : setup.resumeSessionId, errorCode: 'network' },
    )
    const retryMessage = hasActed ? continueMessage : userMessage
    return [...blocks.flush(), brokenNotice, { do: 'end', outcome: { ...outcome, retryMessage } }]
  }

  return {
    begin({ text, images }) {
      userMessage = text
      const pictures = images.map(({ path }) => `\n@${path}`).join('')
      return [{ do: 'write', text: `${text}${pictures}` }, { do: 'close-input' }]
    },
    read(line) {
      switch (textAt(line, 'type')) {
        case 'init': {
          sessionId = textAt(line, 'session_id') ?? sessionId
          model = textAt(line, 'model') ?? model
          const init = { session_id: sessionId ?? '', model: model ?? '', tools: [] }
          return [{ do: 'line', line: { type: 'system', subtype: 'init', ...init } }]
        }
        case 'message':
          return textAt(line, 'role') === 'assistant' ? blocks.text(textAt(line, 'content') ?? '') : []
        case 'tool_use':
          return blocks.toolUse(
            textAt(line, 'tool_id') ?? '',
            textAt(line, 'tool_name') ?? '',
            line.parameters,
          )
        case 'tool_result': {
          const output = textAt(line, 'output') ?? textAt(objectAt(line, 'error'), 'message') ?? ''
          return blocks.toolResult(textAt(line, 'tool_id') ?? '', output, textAt(line, 'status') === 'error')
        }
        case 'error': {
          const message = textAt(line, 'message') ?? ''
          return [
            ...blocks.flush(),
            { do: 'line', line: { type: 'error', error: 'runtime_error', message, retryable: false } },
          ]
        }
        case 'result':
          return readResult(line)
        default:
          return []
      }
    },
    readError(text) {
      const found = /\bstatus: (\d{3})\b/.exec(text)?.[1]
      if (found) status = Number(found)
    },
    interrupt: () => null,
    ended: (exit) => endedGemini(exit, setup, { metadata: metadata(), sessionId }),
  }
}

/** The CLI reports an unknown session on standard error before anything else. */
function endedGemini(
  exit: Exit,
  setup: Setup,
  rest: { metadata: object; sessionId: string | null },
): Outcome {
  const outcome = endedWithoutResult({ ...exit, stderr: withoutNoise(exit.stderr) }, rest)
  if (exit.code === turnLimitExit) return { ...outcome, errorCode: 'max_turns', terminalReason: 'completed' }
  return setup.resumeSessionId && isUnknownSession(exit.stderr)
    ? { ...outcome, errorCode: 'agent_error', metadata: { ...outcome.metadata, session_lost: true } }
    : outcome
}

const turnLimitExit = 53

/** Matches the error for a connection closed during an answer. The CLI retries all other network errors. */
export function isBrokenStream(message: string): boolean {
  return /\bterminated\b|other side closed|premature close/i.test(message)
}

/** Sent after the model has used tools; before that the original message is repeated. */
export const continueMessage = 'The connection to the model broke. Continue where you left off.'

export const brokenNotice: Step = {
  do: 'line',
  line: {
    type: 'system',
    subtype: 'notice',
    level: 'warning',
    message: 'The connection to the model broke in the middle of its answer; the turn continues.',
  },
}

/** Matches the error for a missing session, in both modes. */
export function isUnknownSession(message: string): boolean {
  return /Invalid session identifier|No previous sessions found|Session not found/.test(message)
}

/** Removes the lines that this CLI writes to standard error in every run. */
function withoutNoise(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !/^(YOLO mode|Warning|This warning|Ripgrep|Loaded cached|Security Warning)/.test(line))
    .join('\n')
}

function isTurnLimit(message: string): boolean {
  return /max(imum)? session turns/i.test(message)
}

/** Finds the status in the text, which contains the provider's body. */
export function statusIn(message: string): number | null {
  const found =
    /"code":\s*(\d{3})\b/.exec(message)?.[1] ?? /\bstatus(?: code)?:? (\d{3})\b/.exec(message)?.[1]
  return found ? Number(found) : null
}

/** Returns the error code of JSON-RPC if it is an HTTP status. */
export function httpStatusOf(error: Json): number | null {
  const code = numberAt(error, 'code')
  // The CLI uses 500 for unknown errors.
  return code !== null && code >= 400 && code < 600 && code !== 500 ? code : null
}
