import { splitTurns } from './anthropic-turns.ts'
import type { Message, ModelRequest } from './conversation.ts'
import { type JsonObject, objectOf, objectsOf, textOf } from './json.ts'
import {
  type Answer,
  describeError,
  errorHeaders,
  event,
  type JsonAnswer,
  type Provider,
  piecesOf,
  type ReadInput,
  type Route,
  type StreamedAnswer,
} from './provider.ts'
import { userTexts } from './reminders.ts'

/** The Anthropic Messages API as used by the `claude` CLI. */
export const anthropic: Provider = {
  name: 'anthropic',
  route,
  read,
  offers: (request, tool) => request.tools.some((offered) => offered.name === tool),
  complete,
  stream,
  error,
  countTokens: (count) => ({ input_tokens: count }),
  models: (names) => ({
    data: names.map(modelDetails),
    has_more: false,
    first_id: names.at(0) ?? null,
    last_id: names.at(-1) ?? null,
  }),
  modelDetails,
}

function route(method: string, path: string): Route | null {
  if (method !== 'POST') return null
  if (path === '/v1/messages') return { ask: 'answer', model: null, stream: false }
  if (path === '/v1/messages/count_tokens') return { ask: 'count_tokens', model: null }
  return null
}

function read({ body, headers }: ReadInput): ModelRequest | string {
  if (!Array.isArray(body.messages)) return 'messages: Input should be a valid list'
  if (typeof body.model !== 'string') return 'model: Field required'
  const messages = objectsOf(body.messages)
  const systems = [body.system, ...messages.filter((one) => one.role === 'system').map((one) => one.content)]
  const system = systems.flatMap((one) => textsOf(one)).join('\n')
  const isCli = textOf(headers['user-agent']).startsWith('claude') || system.includes(MARK_OF_CLI)
  const schema = objectOf(objectOf(objectOf(body.output_config).format ?? body.output_format).schema)
  const tools = objectsOf(body.tools).map((tool) => ({
    name: textOf(tool.name),
    description: textOf(tool.description),
    form: 'function' as const,
    namespace: null,
  }))
  const wantsJson = Object.keys(schema).length > 0 && tools.length === 0
  return {
    model: body.model,
    system,
    messages: messages.filter((one) => one.role !== 'system').flatMap((one) => readMessage(one, isCli)),
    tools,
    streamForm: body.stream === true ? 'sse' : null,
    isSide:
      wantsJson ||
      (isCli && body.max_tokens === 1) ||
      AUXILIARY.has(textOf(headers['x-claude-code-request-class'])),
    answerSchema: wantsJson ? schema : null,
  }
}

/** Part of the CLI's system prompt, which no proxy removes. */
const MARK_OF_CLI = 'x-anthropic-billing-header: cc_version='

const AUXILIARY: ReadonlySet<string> = new Set(['auxiliary', 'compaction', 'side_reply'])

function readMessage(message: JsonObject, isCli: boolean): Message[] {
  const blocks =
    typeof message.content === 'string'
      ? [{ type: 'text', text: message.content }]
      : objectsOf(message.content)
  if (message.role === 'assistant') {
    return [{ role: 'assistant', text: textsOf(blocks).join('\n'), images: 0, toolResults: [] }]
  }
  const parts = isCli ? splitTurns(blocks) : [blocks]
  return parts.map((part) => ({
    role: 'user',
    text: userTexts(textsOf(part)).join('\n'),
    images: part.filter((block) => block.type === 'image').length,
    toolResults: part
      .filter((block) => block.type === 'tool_result')
      .map((block) => ({ callId: textOf(block.tool_use_id), text: textsOf(block.content).join('\n') })),
  }))
}

function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content]
  return objectsOf(content)
    .filter((block) => block.type === 'text')
    .map((block) => textOf(block.text))
}

function complete({ id, model, outcome, usage }: Answer): unknown {
  const content =
    outcome.kind === 'text'
      ? { type: 'text', text: outcome.text }
      : { type: 'tool_use', id: `toolu_${id}`, name: outcome.tool, input: outcome.input }
  return {
    ...emptyMessage(id, model, usage.input),
    content: [content],
    stop_reason: stopReason(outcome),
    usage: { ...usageOf(usage.input), output_tokens: usage.output },
  }
}

function stream(answer: Answer): StreamedAnswer {
  const { id, model, outcome, usage } = answer
  const isText = outcome.kind === 'text'
  const block = isText
    ? { type: 'text', text: '' }
    : { type: 'tool_use', id: `toolu_${id}`, name: outcome.tool, input: {} }
  const pieces = piecesOf(isText ? outcome.text : JSON.stringify(outcome.input), answer)
  return {
    head:
      typed('message_start', { message: emptyMessage(id, model, usage.input) }) +
      typed('content_block_start', { index: 0, content_block: block }),
    pieces: pieces.map((piece) => {
      const delta = isText
        ? { type: 'text_delta', text: piece }
        : { type: 'input_json_delta', partial_json: piece }
      return typed('content_block_delta', { index: 0, delta })
    }),
    tail:
      typed('content_block_stop', { index: 0 }) +
      typed('message_delta', {
        delta: { stop_reason: stopReason(outcome), stop_sequence: null },
        usage: { output_tokens: usage.output },
      }) +
      typed('message_stop', {}),
  }
}

function typed(type: string, data: JsonObject): string {
  return event({ type, ...data }, type)
}

function emptyMessage(id: string, model: string, inputTokens: number): JsonObject {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usageOf(inputTokens), output_tokens: 0 },
  }
}

function usageOf(inputTokens: number): JsonObject {
  return { input_tokens: inputTokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
}

function stopReason(outcome: Answer['outcome']): string {
  return outcome.kind === 'tool' ? 'tool_use' : 'end_turn'
}

function error(cause: Parameters<Provider['error']>[0]): JsonAnswer {
  // Never 400 for `fail_first`: `claude` retries a 400 five times with less of the request.
  const { status, message } = describeError(cause, { overload: 529, failFirst: 500 })
  const type = ERROR_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return { status, headers: errorHeaders(cause), body: { type: 'error', error: { type, message } } }
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

function modelDetails(name: string): JsonObject {
  return { type: 'model', id: name, display_name: name, created_at: '2026-01-01T00:00:00Z' }
}
