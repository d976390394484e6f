import type { RunErrorCode, RunMetadata } from '@roost/contracts/link/runs'
import { countAt, isObject, type Json, listAt, objectAt, textAt } from '../kit/json.ts'
import { createBlocks } from './blocks.ts'
import { endedWithoutResult, failed } from './faults.ts'
import {
  brokenNotice,
  continueMessage,
  httpStatusOf,
  isBrokenStream,
  isUnknownSession,
} from './gemini-lines.ts'
import type { Dialogue, Outcome, Setup, Step, TurnInput } from './port.ts'

/**
 * Runs several turns in one Gemini CLI process through the Agent Client Protocol (JSON-RPC over standard
 * streams): `initialize`, then `session/new` or `session/load`, then one `session/prompt` per turn.
 */
export function converseAcp(setup: Setup, now: () => number): Dialogue {
  let blocks = createBlocks()
  let sessionId = setup.resumeSessionId
  let nextId = 1
  let isReady = false
  let pending: TurnInput | null = null
  let startedAt = 0
  let userMessage = ''
  let breaks = 0
  /** Updates since the last barrier. A loaded session replays its history as if it happened now. */
  let replayed = 0
  let barriers = 0
  const onAnswer = new Map<number, (answer: Json) => Step[]>()

  function call(method: string, params: object, then: (answer: Json) => Step[]): Step {
    const id = nextId++
    onAnswer.set(id, then)
    return { do: 'write', text: `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n` }
  }

  function open(): Step {
    const params = { protocolVersion: 1, clientCapabilities: {} }
    return call('initialize', params, (answer) => {
      if (isObject(answer.error)) return fail(answer.error)
      const about = { cwd: setup.places.home, mcpServers: [] }
      if (sessionId) return [call('session/load', { ...about, sessionId }, loaded)]
      return [call('session/new', about, created)]
    })
  }

  function created(answer: Json): Step[] {
    if (isObject(answer.error)) return fail(answer.error)
    sessionId = textAt(objectAt(answer, 'result'), 'sessionId')
    isReady = true
    return prompt()
  }

  function loaded(answer: Json): Step[] {
    if (!isObject(answer.error)) return [barrier()]
    const details = JSON.stringify(answer.error)
    return isUnknownSession(details) ? fail(answer.error, { session_lost: true }) : fail(answer.error)
  }

  /**
   * Sends a dummy request until its answer arrives without replayed updates before it: the history is then
   * complete.
   */
  function barrier(): Step {
    replayed = 0
    barriers += 1
    return call('_roost/barrier', {}, () => {
      if (replayed > 0 && barriers < maxBarriers) return [barrier()]
      isReady = true
      return prompt()
    })
  }

  function prompt(): Step[] {
    const turn = pending
    pending = null
    if (!turn) return []
    userMessage = turn.text
    const pictures = turn.images.map(({ mimetype, data }) => ({ type: 'image', mimeType: mimetype, data }))
    const parts = [{ type: 'text', text: turn.text }, ...pictures]
    const init = { session_id: sessionId ?? '', model: setup.model ?? '', tools: [] }
    return [
      { do: 'line', line: { type: 'system', subtype: 'init', ...init } },
      call('session/prompt', { sessionId, prompt: parts }, finished),
    ]
  }

  /** Continues a broken turn, up to `maxBreaks` times per turn. */
  function continueTurn(): Step[] {
    breaks += 1
    const text = blocks.metadata().tool_count ? continueMessage : userMessage
    const params = { sessionId, prompt: [{ type: 'text', text }] }
    return [...blocks.flush(), brokenNotice, call('session/prompt', params, finished)]
  }

  function finished(answer: Json): Step[] {
    if (isObject(answer.error)) {
      const isBroken = isBrokenStream(textAt(answer.error, 'message') ?? '')
      return isBroken && breaks < maxBreaks ? continueTurn() : fail(answer.error)
    }
    const result = objectAt(answer, 'result')
    const quota = objectAt(objectAt(result, '_meta'), 'quota')
    const tokens = objectAt(quota, 'token_count')
    const usage = {
      input_tokens: countAt(tokens, 'input_tokens'),
      output_tokens: countAt(tokens, 'output_tokens'),
    }
    const about: RunMetadata = {
      ...metadata(),
      model_used: textAt(listAt(quota, 'model_usage')[0], 'model') ?? setup.model,
      ...usage,
    }
    const reason = textAt(result, 'stopReason') ?? 'unknown'
    const outcome: Outcome =
      reason === 'end_turn'
        ? {
            status: 'success',
            response: blocks.response(),
            error: null,
            errorCode: null,
            terminalReason: 'completed',
            metadata: about,
            sessionId,
          }
        : failed({ message: messageOf(reason) }, { metadata: about, sessionId, errorCode: codeOf(reason) })
    return end(outcome, usage)
  }

  /** The CLI reports its loop guard as `max_turn_requests` too; only a reached limit is a turn limit. */
  function codeOf(reason: string): RunErrorCode {
    const isLimit = setup.maxTurns !== null && blocks.turns() >= setup.maxTurns
    return reason === 'max_turn_requests' && isLimit ? 'max_turns' : 'agent_error'
  }

  function messageOf(reason: string): string {
    if (reason !== 'max_turn_requests' || codeOf(reason) === 'max_turns')
      return `The turn ended with ${reason}.`
    return 'Gemini CLI ended the turn because its loop guard found that the model repeats itself.'
  }

  function fail(error: Json, extra: RunMetadata = {}): Step[] {
    const details = textAt(objectAt(error, 'data'), 'details')
    const message = [textAt(error, 'message'), details].filter((part) => part !== null).join(': ')
    const rest = { metadata: { ...metadata(), ...extra }, sessionId }
    const outcome = extra.session_lost
      ? failed({ message }, { ...rest, errorCode: 'agent_error' })
      : failed({ message, status: httpStatusOf(error) }, rest)
    return end(outcome, { input_tokens: 0, output_tokens: 0 })
  }

  function end(outcome: Outcome, usage: { input_tokens: number; output_tokens: number }): Step[] {
    const isError = outcome.status === 'failed'
    return [
      ...blocks.flush(),
      {
        do: 'line',
        line: {
          type: 'result',
          subtype: isError ? 'error' : 'success',
          is_error: isError,
          result: outcome.response ?? outcome.error,
          duration_ms: outcome.metadata.duration_ms ?? 0,
          num_turns: blocks.turns(),
          usage,
          session_id: sessionId,
        },
      },
      { do: 'end', outcome },
    ]
  }

  function metadata(): RunMetadata {
    return {
      ...blocks.metadata(),
      cost_usd: null,
      duration_ms: Math.round(now() - startedAt),
      num_turns: blocks.turns(),
      session_id: sessionId,
      model_used: setup.model,
    }
  }

  function readUpdate(update: Json): Step[] {
    const kind = textAt(update, 'sessionUpdate')
    if (!isReady) {
      if (kind !== 'available_commands_update') replayed += 1
      return []
    }
    const text = textAt(objectAt(update, 'content'), 'text') ?? ''
    const id = textAt(update, 'toolCallId') ?? ''
    switch (kind) {
      case 'agent_message_chunk':
        return /^\[MODE_UPDATE\]/.test(text) ? [] : blocks.text(text)
      case 'agent_thought_chunk':
        return blocks.thinking(text)
      case 'tool_call':
        return blocks.toolUse(id, toolName(id), {
          title: textAt(update, 'title') ?? '',
          ...firstPath(update),
        })
      case 'tool_call_update':
        return blocks.toolResult(id, resultText(update), textAt(update, 'status') === 'failed')
      default:
        return []
    }
  }

  return {
    begin(turn) {
      blocks = createBlocks()
      startedAt = now()
      breaks = 0
      pending = turn
      return isReady ? prompt() : [open()]
    },
    read(line) {
      const method = textAt(line, 'method')
      if (method === 'session/update') return readUpdate(objectAt(objectAt(line, 'params'), 'update'))
      if (method === 'session/request_permission') return [permit(line)]
      const then = typeof line.id === 'number' ? onAnswer.get(line.id) : undefined
      if (!then || typeof line.id !== 'number') return []
      onAnswer.delete(line.id)
      return then(line)
    },
    interrupt: () =>
      `${JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } })}\n`,
    ended: (exit) => endedWithoutResult(exit, { metadata: metadata(), sessionId }),
  }
}

const maxBarriers = 50
const maxBreaks = 3

/** The CLI does not ask in auto-approve mode; if it does, the answer is yes. */
function permit(line: Json): Step {
  const options = listAt(objectAt(line, 'params'), 'options')
  const once = options.find((option) => textAt(option, 'kind') === 'allow_once') ?? options[0]
  const outcome = { outcome: 'selected', optionId: textAt(once, 'optionId') ?? 'proceed_once' }
  return { do: 'write', text: `${JSON.stringify({ jsonrpc: '2.0', id: line.id, result: { outcome } })}\n` }
}

/**
 * The protocol does not name the tool. The id starts with the name: `write_file__write_file_1795229745664_0`.
 */
function toolName(id: string): string {
  return /^(.+?)(?:__.+)?[_-]\d{10,}/.exec(id)?.[1] ?? (id || 'tool')
}

function firstPath(update: Json): { path?: string } {
  const path = textAt(listAt(update, 'locations')[0], 'path')
  return path === null ? {} : { path }
}

function resultText(update: Json): string {
  const parts = listAt(update, 'content').map((part) => {
    if (textAt(part, 'type') === 'diff') return `wrote ${textAt(part, 'path') ?? ''}`
    return textAt(objectAt(part, 'content'), 'text') ?? ''
  })
  return parts.filter((part) => part !== '').join('\n')
}
