import type { Message, ModelRequest } from './conversation.ts'
import { isObject, type JsonObject, objectOf, objectsOf, textOf } from './json.ts'
import { readTools, translateCall } from './openai-tools.ts'
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

/** The OpenAI Responses API as used by the `codex` CLI. */
export const openai: Provider = {
  name: 'openai',
  route,
  read,
  offers: (request, tool) => translateCall(request, tool, {}) !== null,
  complete: (answer) => responseOf(answer, { status: 'completed', output: [itemOf(answer, 'completed')] }),
  stream,
  error,
  countTokens: (count) => ({ object: 'response.input_tokens', input_tokens: count }),
  models: (names) => ({ object: 'list', data: names.map(modelDetails) }),
  modelDetails,
}

function route(method: string, path: string): Route | null {
  if (method === 'POST' && path === '/v1/responses') return { ask: 'answer', model: null, stream: false }
  if (method === 'POST' && path === '/v1/responses/input_tokens') return { ask: 'count_tokens', model: null }
  if (method !== 'GET') return null
  if (path === '/v1/models') return { ask: 'models' }
  const [, named] = /^\/v1\/models\/([^/]+)$/.exec(path) ?? []
  return named === undefined ? null : { ask: 'model', model: named }
}

function read({ body, headers }: ReadInput): ModelRequest | string {
  if (typeof body.model !== 'string') return "Missing required parameter: 'model'."
  if (typeof body.input !== 'string' && !Array.isArray(body.input))
    return "Missing required parameter: 'input'."
  const items =
    typeof body.input === 'string'
      ? [{ type: 'message', role: 'user', content: body.input }]
      : objectsOf(body.input)
  const isInstruction = (item: JsonObject) => item.role === 'developer' || item.role === 'system'
  const instructions = items.filter(isInstruction).flatMap((item) => textsOf(item.content))
  const kind = requestKind(body, headers)
  return {
    model: body.model,
    system: [textOf(body.instructions), ...instructions].filter((text) => text !== '').join('\n'),
    messages: items.filter((item) => !isInstruction(item)).flatMap(readItem),
    tools: readTools(body),
    streamForm: body.stream === true ? 'sse' : null,
    isSide: kind !== null && kind !== 'turn',
    answerSchema: answerSchema(body),
  }
}

function answerSchema(body: JsonObject): JsonObject | null {
  const { type, schema } = objectOf(objectOf(body.text).format)
  return type === 'json_schema' && isObject(schema) ? schema : null
}

/** codex names the purpose in its metadata: `turn`, or its own work such as `compaction`. */
function requestKind(body: JsonObject, headers: ReadInput['headers']): string | null {
  const sent = headers['x-codex-turn-metadata'] ?? objectOf(body.client_metadata)['x-codex-turn-metadata']
  try {
    return textOf(objectOf(JSON.parse(textOf(sent))).request_kind) || null
  } catch {
    return null
  }
}

function readItem(item: JsonObject): Message[] {
  if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
    const result = { callId: textOf(item.call_id), text: textsOf(item.output).join('\n') }
    return [{ role: 'user', text: '', images: 0, toolResults: [result] }]
  }
  if (item.type !== undefined && item.type !== 'message') return []
  const texts = textsOf(item.content)
  if (item.role === 'assistant')
    return [{ role: 'assistant', text: texts.join('\n'), images: 0, toolResults: [] }]
  const images = objectsOf(item.content).filter((part) => part.type === 'input_image').length
  return [{ role: 'user', text: userTexts(texts).join('\n'), images, toolResults: [] }]
}

function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content]
  return objectsOf(content)
    .filter((part) => typeof part.text === 'string')
    .map((part) => textOf(part.text))
}

type ItemStatus = 'in_progress' | 'completed'

function itemOf(answer: Answer, status: ItemStatus): JsonObject {
  const { outcome, request, id } = answer
  if (outcome.kind === 'text') {
    const content = status === 'completed' ? [textPart(outcome.text)] : []
    return { type: 'message', id: `msg_${id}`, status, role: 'assistant', content }
  }
  const call = translateCall(request, outcome.tool, outcome.input)
  const isCustom = call?.form === 'custom'
  const argument = status === 'completed' ? (call?.argument ?? '') : ''
  return {
    type: isCustom ? 'custom_tool_call' : 'function_call',
    id: `${isCustom ? 'ctc' : 'fc'}_${id}`,
    call_id: `call_${id}`,
    name: call?.name ?? outcome.tool,
    ...(call?.namespace == null ? {} : { namespace: call.namespace }),
    ...(isCustom ? { input: argument } : { arguments: argument }),
    status,
  }
}

function textPart(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [] }
}

function responseOf(answer: Answer, state: { status: ItemStatus; output: JsonObject[] }): JsonObject {
  const { input, output } = answer.usage
  return {
    id: `resp_${answer.id}`,
    object: 'response',
    created_at: 0,
    model: answer.model,
    ...state,
    usage:
      state.status === 'completed'
        ? {
            input_tokens: input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + output,
          }
        : null,
  }
}

function stream(answer: Answer): StreamedAnswer {
  const started = itemOf(answer, 'in_progress')
  const done = itemOf(answer, 'completed')
  const { names, text, part } = deltasOf(answer, done)
  const at = { item_id: started.id, output_index: 0, ...(part ? { content_index: 0 } : {}) }
  let sequence = 0
  const typed = (type: string, data: JsonObject) =>
    event({ type, sequence_number: sequence++, ...data }, type)
  const initial = responseOf(answer, { status: 'in_progress', output: [] })
  const head =
    typed('response.created', { response: initial }) +
    typed('response.output_item.added', { output_index: 0, item: started }) +
    (part ? typed('response.content_part.added', { ...at, part: textPart('') }) : '')
  const pieces = piecesOf(text, answer).map((delta) => typed(names.delta, { ...at, delta }))
  const tail =
    typed(names.done, { ...at, [names.field]: text }) +
    (part ? typed('response.content_part.done', { ...at, part }) : '') +
    typed('response.output_item.done', { output_index: 0, item: done }) +
    typed('response.completed', { response: responseOf(answer, { status: 'completed', output: [done] }) })
  return { head, pieces, tail }
}

function deltasOf({ outcome }: Answer, done: JsonObject) {
  if (outcome.kind === 'text') {
    return { names: eventNames('output_text', 'text'), text: outcome.text, part: textPart(outcome.text) }
  }
  if (done.type === 'custom_tool_call') {
    return { names: eventNames('custom_tool_call_input', 'input'), text: textOf(done.input), part: null }
  }
  return {
    names: eventNames('function_call_arguments', 'arguments'),
    text: textOf(done.arguments),
    part: null,
  }
}

function eventNames(kind: string, field: string) {
  return { delta: `response.${kind}.delta`, done: `response.${kind}.done`, field }
}

function error(cause: Parameters<Provider['error']>[0]): JsonAnswer {
  const { status, message } = describeError(cause, { overload: 503, failFirst: 400 })
  const { type, code } = ERROR_TYPES[status] ?? (status >= 500 ? SERVER_ERROR : INVALID_REQUEST)
  const isOverload = cause.cause === 'overload'
  const body = { error: { message, type, param: null, code: isOverload ? 'server_is_overloaded' : code } }
  return { status, headers: errorHeaders(cause), body }
}

const SERVER_ERROR = { type: 'server_error', code: null }
const INVALID_REQUEST = { type: 'invalid_request_error', code: null }

const ERROR_TYPES: Readonly<Record<number, { type: string; code: string | null }>> = {
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  403: { type: 'permission_error', code: null },
  404: { type: 'invalid_request_error', code: 'not_found' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
}

function modelDetails(name: string): JsonObject {
  return { id: name, object: 'model', created: 0, owned_by: 'roost' }
}
