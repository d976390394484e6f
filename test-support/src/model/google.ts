import type { Message, ModelRequest } from './conversation.ts'
import { isObject, type JsonObject, objectOf, objectsOf, textOf } from './json.ts'
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

/** Gemini's generateContent API as used by the `gemini` CLI. */
export const google: Provider = {
  name: 'google',
  route,
  read,
  offers: (request, tool) => nameOfTool(request, tool) !== null,
  complete: (answer) => chunk(answer, { parts: partsOf(answer, null), isLast: true }),
  stream,
  error,
  countTokens: (count) => ({ totalTokens: count }),
  models: (names) => ({ models: names.map(modelDetails) }),
  modelDetails,
}

function route(method: string, path: string): Route | null {
  const [, model, verb] = /^\/v1(?:beta|alpha)?\/models\/([^/:]+):(\w+)$/.exec(path) ?? []
  if (model !== undefined && method === 'POST') {
    if (verb === 'generateContent') return { ask: 'answer', model: decoded(model), stream: false }
    if (verb === 'streamGenerateContent') return { ask: 'answer', model: decoded(model), stream: true }
    if (verb === 'countTokens') return { ask: 'count_tokens', model: decoded(model) }
  }
  if (method !== 'GET') return null
  if (path === '/v1beta/models') return { ask: 'models' }
  const [, named] = /^\/v1beta\/models\/([^/:]+)$/.exec(path) ?? []
  return named === undefined ? null : { ask: 'model', model: decoded(named) }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function read({ body, headers, query, route }: ReadInput): ModelRequest | string {
  const request = isObject(body.generateContentRequest) ? body.generateContentRequest : body
  if (!Array.isArray(request.contents)) return 'contents is not specified'
  const config = objectOf(request.generationConfig)
  const schema = config.responseJsonSchema ?? config.responseSchema
  const wantsJson = isObject(schema) || config.responseMimeType === 'application/json'
  const isStream = route.ask === 'answer' && route.stream
  // The CLI streams its own turns; requests without streaming come from its helpers.
  const isHelper = !isStream && textOf(headers['user-agent']).startsWith('GeminiCLI')
  return {
    model: route.model ?? '',
    system: textsOf(objectsOf(objectOf(request.systemInstruction ?? request.system_instruction).parts)).join(
      '\n',
    ),
    messages: objectsOf(request.contents).map(readContent),
    tools: objectsOf(request.tools).flatMap((tool) =>
      objectsOf(tool.functionDeclarations ?? tool.function_declarations).map((declared) => ({
        name: textOf(declared.name),
        description: textOf(declared.description),
        form: 'function' as const,
        namespace: null,
      })),
    ),
    streamForm: isStream ? (query.get('alt') === 'sse' ? 'sse' : 'json_array') : null,
    isSide: wantsJson || isHelper,
    answerSchema: wantsJson ? objectOf(schema) : null,
  }
}

function readContent(content: JsonObject): Message {
  const parts = objectsOf(content.parts)
  if (content.role === 'model') {
    return { role: 'assistant', text: textsOf(parts).join('\n'), images: 0, toolResults: [] }
  }
  return {
    role: 'user',
    text: userTexts(textsOf(parts)).join('\n'),
    images: parts.filter(isImage).length,
    toolResults: parts.filter((part) => isObject(part.functionResponse)).map(readResult),
  }
}

function readResult(part: JsonObject, index: number): Message['toolResults'][number] {
  const result = objectOf(part.functionResponse)
  const response = objectOf(result.response)
  const text = response.output ?? response.error ?? response
  return {
    callId: textOf(result.id) || `${textOf(result.name)}-${index}`,
    text: typeof text === 'string' ? text : JSON.stringify(text),
  }
}

function isImage(part: JsonObject): boolean {
  const data = objectOf(part.inlineData ?? part.inline_data ?? part.fileData ?? part.file_data)
  return textOf(data.mimeType ?? data.mime_type).startsWith('image/')
}

function textsOf(parts: JsonObject[]): string[] {
  return parts
    .filter((part) => typeof part.text === 'string' && part.thought !== true)
    .map((part) => textOf(part.text))
}

/** Returns the offered name of `Bash`, `Write` or another tool; null when not offered. */
function nameOfTool(request: ModelRequest, tool: string): string | null {
  const names = [tool, OWN_NAMES[tool]]
  return request.tools.find((offered) => names.includes(offered.name))?.name ?? null
}

/** Argument names are the same: `command`, `file_path`, `content`. */
const OWN_NAMES: Readonly<Record<string, string>> = { Bash: 'run_shell_command', Write: 'write_file' }

function partsOf({ outcome, request, id }: Answer, text: string | null): JsonObject[] {
  if (outcome.kind === 'text') return [{ text: text ?? outcome.text }]
  const name = nameOfTool(request, outcome.tool) ?? outcome.tool
  return [{ functionCall: { id: `call_${id}`, name, args: outcome.input } }]
}

function stream(answer: Answer): StreamedAnswer {
  const { outcome, request } = answer
  const texts = outcome.kind === 'text' ? piecesOf(outcome.text, answer) : [null]
  const pieces = texts.map((text) => chunk(answer, { parts: partsOf(answer, text), isLast: false }))
  const last = chunk(answer, { parts: [{ text: '' }], isLast: true })
  if (request.streamForm === 'sse')
    return { head: '', pieces: pieces.map((one) => event(one)), tail: event(last) }
  // Without `alt=sse` the chunks are members of one JSON array.
  return {
    head: '[',
    pieces: pieces.map((one) => `${JSON.stringify(one)},\n`),
    tail: `${JSON.stringify(last)}]`,
  }
}

function chunk(
  { id, model, usage }: Answer,
  { parts, isLast }: { parts: JsonObject[]; isLast: boolean },
): JsonObject {
  return {
    candidates: [
      { content: { role: 'model', parts }, ...(isLast ? { finishReason: 'STOP' } : {}), index: 0 },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    },
    modelVersion: model,
    responseId: id,
  }
}

function error(cause: Parameters<Provider['error']>[0]): JsonAnswer {
  const { status, message } = describeError(cause, { overload: 503, failFirst: 400 })
  const name = STATUS_NAMES[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
  const details = detailsOf(cause)
  return {
    status,
    headers: errorHeaders(cause),
    body: { error: { code: status, message, status: name, ...(details ? { details } : {}) } },
  }
}

/**
 * `gemini` ignores headers; these details decide whether it retries for a minute. It gives up on a daily
 * quota and on exhausted capacity.
 */
function detailsOf({ cause }: Parameters<Provider['error']>[0]): JsonObject[] | null {
  if (cause === 'rate_limit') {
    const quotaId = 'GenerateRequestsPerDayPerProjectPerModel'
    return [{ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] }]
  }
  if (cause !== 'overload') return null
  const info = { reason: 'MODEL_CAPACITY_EXHAUSTED', domain: 'googleapis.com', metadata: {} }
  return [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', ...info }]
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

function modelDetails(name: string): JsonObject {
  return {
    name: `models/${name}`,
    version: '1',
    displayName: name,
    inputTokenLimit: 1_000_000,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  }
}
