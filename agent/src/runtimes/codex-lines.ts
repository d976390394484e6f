import type { RunMetadata } from '@roost/contracts/link/runs'
import type { TokenUsage } from '@roost/contracts/link/transcript'
import { countAt, isObject, type Json, listAt, numberAt, objectAt, textAt } from '../kit/json.ts'
import { createBlocks } from './blocks.ts'
import { readTotals, writeTotals } from './codex-totals.ts'
import { endedWithoutResult, failed } from './faults.ts'
import { statusIn } from './gemini-lines.ts'
import type { Dialogue, Outcome, Setup, Step } from './port.ts'

/** One turn of `codex exec --json`, which emits complete items, never pieces. */
export function converseCodex(setup: Setup, now: () => number): Dialogue {
  const blocks = createBlocks()
  const open = new Set<string>()
  let threadId = setup.resumeSessionId
  let startedAt = now()

  function metadata(): RunMetadata {
    return {
      ...blocks.metadata(),
      cost_usd: null,
      duration_ms: Math.round(now() - startedAt),
      num_turns: blocks.turns(),
      session_id: threadId,
      model_used: setup.model,
    }
  }

  function readItem(item: Json, isDone: boolean): Step[] {
    const id = textAt(item, 'id') ?? ''
    switch (textAt(item, 'type')) {
      case 'agent_message':
        return isDone ? completeBlock(blocks.text(textAt(item, 'text') ?? '')) : []
      case 'reasoning':
        return isDone ? completeBlock(blocks.thinking(textAt(item, 'text') ?? '')) : []
      case 'command_execution': {
        const output = textAt(item, 'aggregated_output') ?? ''
        const input = { command: plainCommand(textAt(item, 'command') ?? '') }
        return tool(id, 'Bash', input, isDone, output, numberAt(item, 'exit_code') !== 0)
      }
      case 'file_change': {
        const changes = listAt(item, 'changes')
        const summary = changes.map(
          (change) => `${textAt(change, 'kind') ?? ''} ${textAt(change, 'path') ?? ''}`,
        )
        return tool(id, 'Edit', { changes }, isDone, summary.join('\n'), textAt(item, 'status') === 'failed')
      }
      case 'mcp_tool_call': {
        const name = `mcp__${textAt(item, 'server') ?? ''}__${textAt(item, 'tool') ?? ''}`
        const fault = textAt(objectAt(item, 'error'), 'message')
        return tool(id, name, item.arguments, isDone, fault ?? contentOf(item), fault !== null)
      }
      case 'web_search':
        return tool(id, 'WebSearch', { query: textAt(item, 'query') ?? '' }, isDone, '', false)
      case 'error': {
        const message = textAt(item, 'message') ?? ''
        // The CLI warns about the flag that enables our own hook.
        if (!isDone || message.includes('bypass-hook-trust')) return []
        return [{ do: 'line', line: { type: 'system', subtype: 'notice', level: 'warning', message } }]
      }
      default:
        return []
    }
  }

  function tool(
    id: string,
    name: string,
    input: unknown,
    isDone: boolean,
    output: string,
    isError: boolean,
  ): Step[] {
    const call = open.has(id) ? [] : blocks.toolUse(id, name, input)
    open.add(id)
    return isDone ? [...call, ...blocks.toolResult(id, output, isError)] : call
  }

  /** Closes the block, because a complete item has no further pieces. */
  function completeBlock(steps: Step[]): Step[] {
    return [...steps, ...blocks.flush()]
  }

  function completed(line: Json): Step[] {
    const usage = turnUsage(objectAt(line, 'usage'))
    const about: RunMetadata = {
      ...metadata(),
      input_tokens: usage.input_tokens,
      output_tokens: usage.output_tokens,
      cache_read_tokens: usage.cache_read_input_tokens ?? 0,
      cache_creation_tokens: usage.cache_creation_input_tokens ?? 0,
    }
    return end(
      {
        status: 'success',
        response: blocks.response(),
        error: null,
        errorCode: null,
        terminalReason: 'completed',
        metadata: about,
        sessionId: threadId,
      },
      usage,
    )
  }

  /** The CLI reports totals of the whole thread; a turn is the difference. Input includes cached tokens. */
  function turnUsage(total: Json): TokenUsage {
    const before = threadId && setup.resumeSessionId ? readTotals(setup.places.state, threadId) : {}
    if (threadId) writeTotals(setup.places.state, threadId, total)
    const since = (name: string) => Math.max(0, countAt(total, name) - countAt(before, name))
    const cached = since('cached_input_tokens')
    return {
      input_tokens: Math.max(0, since('input_tokens') - cached),
      output_tokens: since('output_tokens'),
      cache_creation_input_tokens: since('cache_write_input_tokens'),
      cache_read_input_tokens: cached,
    }
  }

  function failure(message: string, isEarly = false): Step[] {
    const outcome = failed(
      { message, status: statusOf(message) },
      { metadata: metadata(), sessionId: threadId },
    )
    return end(outcome, { input_tokens: 0, output_tokens: 0 }, isEarly)
  }

  function end(outcome: Outcome, usage: TokenUsage, isEarly = false): Step[] {
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
          session_id: threadId,
        },
      },
      { do: 'end', outcome, ...(isEarly ? { isEarly } : {}) },
    ]
  }

  /** The CLI retries every failed call. When a retry is hopeless, the turn ends here. */
  function readError(message: string): Step[] {
    const status = statusOf(message)
    if (status !== null && hopelessStatuses.includes(status))
      return failure(message.replace(/^Reconnecting\.\.\. \S+ /, ''), true)
    return [{ do: 'line', line: { type: 'system', subtype: 'notice', level: 'warning', message } }]
  }

  return {
    begin({ text }) {
      startedAt = now()
      return [{ do: 'write', text }, { do: 'close-input' }]
    },
    read(line) {
      switch (textAt(line, 'type')) {
        case 'thread.started': {
          threadId = textAt(line, 'thread_id') ?? threadId
          const init = { session_id: threadId ?? '', model: setup.model ?? '', tools: [] }
          return [{ do: 'line', line: { type: 'system', subtype: 'init', ...init } }]
        }
        case 'item.started':
          return readItem(objectAt(line, 'item'), false)
        case 'item.completed':
          return readItem(objectAt(line, 'item'), true)
        case 'turn.completed':
          return completed(line)
        case 'turn.failed':
          return failure(textAt(objectAt(line, 'error'), 'message') ?? 'The turn failed.')
        case 'error':
          return readError(textAt(line, 'message') ?? '')
        default:
          return []
      }
    },
    interrupt: () => null,
    ended(exit) {
      const outcome = endedWithoutResult(exit, { metadata: metadata(), sessionId: threadId })
      return setup.resumeSessionId && /no rollout found/i.test(exit.stderr)
        ? { ...outcome, errorCode: 'agent_error', metadata: { ...outcome.metadata, session_lost: true } }
        : outcome
    },
  }
}

const hopelessStatuses = [400, 401, 402, 403, 404]

/** Matches `unexpected status 401 Unauthorized: …`, `last status: 429 …` or the provider's body. */
function statusOf(message: string): number | null {
  const found = /\bstatus:? (\d{3})\b/.exec(message)?.[1]
  return found ? Number(found) : statusIn(message)
}

/** Removes the wrapper from commands such as `/bin/bash -lc 'ls'`. */
function plainCommand(command: string): string {
  return /^\/bin\/(?:ba|z)?sh -lc '([^']*)'$/.exec(command)?.[1] ?? command
}

function contentOf(item: Json): string {
  const { result } = item
  if (!isObject(result)) return ''
  return listAt(result, 'content')
    .map((part) => textAt(part, 'text') ?? '')
    .join('\n')
}
