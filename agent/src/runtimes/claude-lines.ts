import type { RunErrorCode, RunMetadata } from '@roost/contracts/link/runs'
import type { ContentBlock, ToolResult } from '@roost/contracts/link/transcript'
import { countAt, isObject, type Json, listAt, numberAt, objectAt, textAt } from '../kit/json.ts'
import { contextOf, costOf, usageOf, windowOf } from './claude-usage.ts'
import { codeOf, failed } from './faults.ts'
import type { Outcome, Step } from './port.ts'

/** Interprets the output lines of one Claude Code turn. */
export type ClaudeTurn = {
  read(line: Json): Step[]
  sessionId(): string | null
  /** Metadata collected so far. */
  metadata(): RunMetadata
}

export function createClaudeTurn(resumeSessionId: string | null, now: () => number): ClaudeTurn {
  let sessionId = resumeSessionId
  let model: string | null = null
  let toolCount = 0
  let contextTokens: number | null = null
  let hasResult = false
  const compactEvents: NonNullable<RunMetadata['compact_events']> = []

  function metadata(): RunMetadata {
    return {
      tool_count: toolCount,
      session_id: sessionId,
      model_used: model,
      context_tokens: contextTokens,
      compact_events: compactEvents,
    }
  }

  function readSystem(line: Json): Step[] {
    switch (textAt(line, 'subtype')) {
      case 'init': {
        sessionId = textAt(line, 'session_id') ?? sessionId
        model = textAt(line, 'model') ?? model
        const tools = listAt(line, 'tools').filter((tool) => typeof tool === 'string')
        return [
          {
            do: 'line',
            line: { type: 'system', subtype: 'init', session_id: sessionId ?? '', model: model ?? '', tools },
          },
        ]
      }
      case 'compact_boundary': {
        const about = objectAt(line, 'compact_metadata')
        const tokens = {
          before_tokens: numberAt(about, 'pre_tokens'),
          after_tokens: numberAt(about, 'post_tokens'),
        }
        compactEvents.push({ at: new Date(now()).toISOString(), ...tokens })
        return [{ do: 'line', line: { type: 'system', subtype: 'compact', ...tokens } }]
      }
      case 'api_retry': {
        const status = numberAt(line, 'error_status')
        const reason = [status, textAt(line, 'error')].filter((part) => part !== null).join(' ')
        const count = `${countAt(line, 'attempt')} of ${countAt(line, 'max_retries')}`
        const message = `The model call failed (${reason || 'no answer'}); retry ${count}.`
        return [{ do: 'line', line: { type: 'system', subtype: 'notice', level: 'warning', message } }]
      }
      default:
        return []
    }
  }

  function readAssistant(line: Json): Step[] {
    const message = objectAt(line, 'message')
    const name = textAt(message, 'model')
    // Failed calls appear as synthetic answers; the result line reports them properly.
    if (name === '<synthetic>' || textAt(line, 'error') !== null) return []
    const content = listAt(message, 'content').flatMap(blockOf)
    toolCount += content.filter(({ type }) => type === 'tool_use').length
    const parent = textAt(line, 'parent_tool_use_id')
    const usage = isObject(message.usage) ? usageOf(message.usage) : undefined
    if (parent === null) {
      model = name ?? model
      if (usage) contextTokens = contextOf(usage)
    }
    if (content.length === 0) return []
    return [
      {
        do: 'line',
        line: {
          type: 'assistant',
          message: {
            role: 'assistant',
            ...(name ? { model: name } : {}),
            content,
            ...(usage ? { usage } : {}),
          },
          ...(parent ? { parent_tool_use_id: parent } : {}),
        },
      },
    ]
  }

  function readUser(line: Json): Step[] {
    const content = listAt(objectAt(line, 'message'), 'content').flatMap(toolResultOf)
    if (content.length === 0) return []
    const parent = textAt(line, 'parent_tool_use_id')
    return [
      {
        do: 'line',
        line: {
          type: 'user',
          message: { role: 'user', content },
          ...(parent ? { parent_tool_use_id: parent } : {}),
        },
      },
    ]
  }

  function readPiece(line: Json): Step[] {
    const event = objectAt(line, 'event')
    // Text of a subagent is not part of the turn's answer.
    if (textAt(line, 'parent_tool_use_id') !== null || textAt(event, 'type') !== 'content_block_delta')
      return []
    const delta = objectAt(event, 'delta')
    const text = textAt(delta, 'text')
    if (text) return [{ do: 'partial', kind: 'text', text }]
    const thinking = textAt(delta, 'thinking')
    return thinking ? [{ do: 'partial', kind: 'thinking', text: thinking }] : []
  }

  function readResult(line: Json): Step[] {
    hasResult = true
    sessionId = textAt(line, 'session_id') ?? sessionId
    const isError = line.is_error === true
    const usage = usageOf(objectAt(line, 'usage'))
    const cost = costOf(line)
    const durationMs = countAt(line, 'duration_ms')
    const turns = countAt(line, 'num_turns')
    const about: RunMetadata = {
      ...metadata(),
      cost_usd: cost,
      duration_ms: durationMs,
      num_turns: turns,
      input_tokens: usage.input_tokens,
      output_tokens: usage.output_tokens,
      cache_creation_tokens: usage.cache_creation_input_tokens ?? 0,
      cache_read_tokens: usage.cache_read_input_tokens ?? 0,
      context_window: windowOf(line, model),
    }
    const result = textAt(line, 'result')
    const outcome = isError ? failure(line, about) : success(result, about)
    return [
      {
        do: 'line',
        line: {
          type: 'result',
          subtype: isError ? 'error' : 'success',
          is_error: isError,
          result: isError ? outcome.error : result,
          ...(cost === null ? {} : { total_cost_usd: cost }),
          duration_ms: durationMs,
          num_turns: turns,
          usage,
          session_id: sessionId,
        },
      },
      { do: 'end', outcome },
    ]
  }

  function success(result: string | null, about: RunMetadata): Outcome {
    return {
      status: 'success',
      response: result ?? '',
      error: null,
      errorCode: null,
      terminalReason: 'completed',
      metadata: about,
      sessionId,
    }
  }

  /** `subtype` is "success" for failed calls too: only `is_error` and the status count. */
  function failure(line: Json, about: RunMetadata): Outcome {
    const messages = listAt(line, 'errors').filter((entry) => typeof entry === 'string')
    const message = textAt(line, 'result') || messages.join('\n')
    const isLost = /No conversation found/.test(message)
    const fault = {
      message: message || `The turn ended with ${textAt(line, 'subtype')}.`,
      status: statusOf(line),
    }
    return failed(fault, {
      metadata: isLost ? { ...about, session_lost: true } : about,
      sessionId,
      errorCode: isLost ? 'agent_error' : reasonOf(line, fault),
    })
  }

  return {
    read(line) {
      if (hasResult) return []
      switch (textAt(line, 'type')) {
        case 'system':
          return readSystem(line)
        case 'assistant':
          return readAssistant(line)
        case 'user':
          return readUser(line)
        case 'stream_event':
          return readPiece(line)
        case 'result':
          return readResult(line)
        default:
          return []
      }
    },
    sessionId: () => sessionId,
    metadata,
  }
}

function reasonOf(line: Json, fault: { message: string; status: number | null }): RunErrorCode {
  switch (textAt(line, 'subtype')) {
    case 'error_max_turns':
      return 'max_turns'
    case 'error_max_budget_usd':
      return 'cap_reached'
    default:
      return codeOf(fault)
  }
}

function statusOf(line: Json): number | null {
  return numberAt(line, 'api_error_status')
}

function blockOf(block: unknown): ContentBlock[] {
  switch (textAt(block, 'type')) {
    case 'text':
      return [{ type: 'text', text: textAt(block, 'text') ?? '' }]
    case 'thinking':
      return [{ type: 'thinking', thinking: textAt(block, 'thinking') ?? '' }]
    case 'tool_use': {
      const input = isObject(block) ? block.input : undefined
      return [
        {
          type: 'tool_use',
          id: textAt(block, 'id') ?? '',
          name: textAt(block, 'name') ?? '',
          input: input ?? {},
        },
      ]
    }
    default:
      return []
  }
}

function toolResultOf(block: unknown): ToolResult[] {
  if (!isObject(block) || block.type !== 'tool_result') return []
  return [
    {
      type: 'tool_result',
      tool_use_id: textAt(block, 'tool_use_id') ?? '',
      content: plainText(block.content),
      ...(block.is_error === true ? { is_error: true } : {}),
    },
  ]
}

/** Converts a tool result to text; other content becomes its type in brackets. */
function plainText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => textAt(part, 'text') ?? `[${textAt(part, 'type') ?? 'content'}]`).join('\n')
}
