import type { RunMetadata } from '@roost/contracts/link/runs'
import { countAt, type Json, numberAt, objectAt, textAt } from '../kit/json.ts'
import { createBlocks } from './blocks.ts'
import { endedWithoutResult, failed } from './faults.ts'
import type { Dialogue, Exit, Outcome, Setup, Step } from './port.ts'

/** One headless turn of Gemini CLI in its `stream-json` form. */
export function converseLines(setup: Setup): Dialogue {
  let asked = ''
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
    if (isError && isBrokenStream(message) && sessionId) return goOn(message, about)
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

  /** A session in which the model has not answered yet cannot be resumed; then nothing has happened either. */
  function goOn(message: string, about: RunMetadata): Step[] {
    const hasActed = (about.tool_count ?? 0) > 0
    const outcome = failed(
      { message },
      { metadata: about, sessionId: hasActed ? sessionId : setup.resumeSessionId, errorCode: 'network' },
    )
    const again = hasActed ? goOnMessage : asked
    return [...blocks.flush(), brokenNotice, { do: 'end', outcome: { ...outcome, again } }]
  }

  return {
    begin({ text, images }) {
      asked = text
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
          const said = textAt(line, 'output') ?? textAt(objectAt(line, 'error'), 'message') ?? ''
          return blocks.toolResult(textAt(line, 'tool_id') ?? '', said, textAt(line, 'status') === 'error')
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
    hear(text) {
      const found = /\bstatus: (\d{3})\b/.exec(text)?.[1]
      if (found) status = Number(found)
    },
    interrupt: () => null,
    ended: (exit) => endedGemini(exit, setup, { metadata: metadata(), sessionId }),
  }
}

/** An unknown session is told on standard error before anything else happens. */
function endedGemini(
  exit: Exit,
  setup: Setup,
  rest: { metadata: object; sessionId: string | null },
): Outcome {
  const outcome = endedWithoutResult({ ...exit, stderr: withoutChatter(exit.stderr) }, rest)
  if (exit.code === turnLimitExit) return { ...outcome, errorCode: 'max_turns', terminalReason: 'completed' }
  return setup.resumeSessionId && isUnknownSession(exit.stderr)
    ? { ...outcome, errorCode: 'agent_error', metadata: { ...outcome.metadata, session_lost: true } }
    : outcome
}

const turnLimitExit = 53

/**
 * What this CLI says when a connection is closed, and not reset, in the middle of an answer. It tries again
 * after every other fault of the network.
 */
export function isBrokenStream(message: string): boolean {
  return /\bterminated\b|other side closed|premature close/i.test(message)
}

/** Sent when the model had already acted; before that the same message is understood as the same. */
export const goOnMessage = 'The connection to the model broke. Go on where you were.'

export const brokenNotice: Step = {
  do: 'line',
  line: {
    type: 'system',
    subtype: 'notice',
    level: 'warning',
    message: 'The connection to the model broke in the middle of its answer; the turn goes on.',
  },
}

/** The words for a session that is not there, in both modes. */
export function isUnknownSession(message: string): boolean {
  return /Invalid session identifier|No previous sessions found|Session not found/.test(message)
}

/** What this CLI says on standard error in every run. */
function withoutChatter(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !/^(YOLO mode|Warning|This warning|Ripgrep|Loaded cached|Security Warning)/.test(line))
    .join('\n')
}

function isTurnLimit(message: string): boolean {
  return /max(imum)? session turns/i.test(message)
}

/** The provider's body is passed on inside the text. */
export function statusIn(message: string): number | null {
  const found =
    /"code":\s*(\d{3})\b/.exec(message)?.[1] ?? /\bstatus(?: code)?:? (\d{3})\b/.exec(message)?.[1]
  return found ? Number(found) : null
}

/** The number of an error as JSON-RPC carries it, where it is one of HTTP. */
export function httpStatusOf(error: Json): number | null {
  const code = numberAt(error, 'code')
  // 500 is what the CLI says when it does not know.
  return code !== null && code >= 400 && code < 600 && code !== 500 ? code : null
}
