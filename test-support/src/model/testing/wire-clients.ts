import { textOf } from '../json.ts'
import type { ProviderName } from '../provider.ts'

/** A test conversation: texts of user and assistant in turn, or objects for more. */
export type TestMessage = string | { text?: string; images?: number; toolResult?: string }

export type Asking = {
  said: TestMessage[]
  stream: boolean
  system?: string
  /** Tool names of the provider. */
  tools?: string[]
  signal?: AbortSignal
}

/** An answer in the common form of all providers. */
export type ReceivedAnswer = {
  status: number
  headers: Headers
  /** Text received so far, even if the answer was cut. */
  text: string
  toolCall: { name: string; input: unknown } | null
  usage: { input: number; output: number } | null
  /** The error in the provider's own format. */
  error: { message: string; type: string } | null
  isBroken: boolean
  /** Milliseconds between the first and the last piece of text. */
  spreadMs: number
}

/** A client for one provider's API over HTTP. */
export type WireClient = {
  name: ProviderName
  tools: { Bash: string; Write: string }
  overloadStatus: number
  failFirstStatus: number
  path: (stream: boolean) => string
  keyHeaders: (key: string) => Record<string, string>
  body: (asking: Asking) => unknown
  /** Adds a complete response or one stream event to the received answer. */
  addTo: (answer: ReceivedAnswer, data: unknown) => void
}

/** Returns the value at a path in JSON of unknown shape, or undefined. */
function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((inner, step) => Object(inner)[step], value)
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function usageOf(input: unknown, output: unknown): ReceivedAnswer['usage'] {
  return { input: Number(input), output: Number(output) }
}

const image =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

function objects(said: TestMessage[]) {
  return said.map((one, index) => ({
    isUser: index % 2 === 0,
    ...(typeof one === 'string' ? { text: one } : one),
  }))
}

function repeat<T>(count: number | undefined, value: T): T[] {
  return Array.from({ length: count ?? 0 }, () => value)
}

export const anthropicClient: WireClient = {
  name: 'anthropic',
  tools: { Bash: 'Bash', Write: 'Write' },
  overloadStatus: 529,
  failFirstStatus: 500,
  path: () => '/v1/messages?beta=true',
  keyHeaders: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  body: ({ said, stream, system, tools }) => ({
    model: 'claude-test',
    max_tokens: 1000,
    stream,
    system,
    tools: tools?.map((name) => ({ name, input_schema: { type: 'object' } })),
    messages: objects(said).map(({ isUser, text, images, toolResult }) => ({
      role: isUser ? 'user' : 'assistant',
      content: [
        ...(text === undefined ? [] : [{ type: 'text', text }]),
        ...repeat(images, {
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: image },
        }),
        ...(toolResult === undefined
          ? []
          : [{ type: 'tool_result', tool_use_id: 't1', content: toolResult }]),
      ],
    })),
  }),
  addTo(answer, data) {
    const type = at(data, 'type')
    if (type === 'error') answer.error = errorOf(data, 'type')
    if (type === 'message') {
      answer.usage = usageOf(at(data, 'usage', 'input_tokens'), at(data, 'usage', 'output_tokens'))
      for (const block of list(at(data, 'content'))) {
        answer.text += textOf(at(block, 'text'))
        if (at(block, 'type') === 'tool_use') answer.toolCall = callOf(at(block, 'name'), at(block, 'input'))
      }
    }
    if (type === 'message_start') answer.usage = usageOf(at(data, 'message', 'usage', 'input_tokens'), 0)
    if (type === 'content_block_start' && at(data, 'content_block', 'type') === 'tool_use') {
      answer.toolCall = callOf(at(data, 'content_block', 'name'), '')
    }
    if (type === 'content_block_delta') {
      answer.text += textOf(at(data, 'delta', 'text'))
      if (answer.toolCall) answer.toolCall.input += textOf(at(data, 'delta', 'partial_json'))
    }
    if (type === 'content_block_stop' && answer.toolCall) {
      answer.toolCall.input = JSON.parse(String(answer.toolCall.input))
    }
    if (type === 'message_delta' && answer.usage)
      answer.usage.output = Number(at(data, 'usage', 'output_tokens'))
  },
}

export const googleClient: WireClient = {
  name: 'google',
  tools: { Bash: 'run_shell_command', Write: 'write_file' },
  overloadStatus: 503,
  failFirstStatus: 400,
  path: (stream) =>
    `/v1beta/models/gemini-test:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  keyHeaders: (key) => ({ 'x-goog-api-key': key }),
  body: ({ said, system, tools }) => ({
    systemInstruction: system === undefined ? undefined : { parts: [{ text: system }] },
    tools: tools && [{ functionDeclarations: tools.map((name) => ({ name })) }],
    contents: objects(said).map(({ isUser, text, images, toolResult }) => ({
      role: isUser ? 'user' : 'model',
      parts: [
        ...(text === undefined ? [] : [{ text }]),
        ...repeat(images, { inlineData: { mimeType: 'image/png', data: image } }),
        ...(toolResult === undefined
          ? []
          : [{ functionResponse: { id: 't1', name: 'x', response: { output: toolResult } } }]),
      ],
    })),
  }),
  addTo(answer, data) {
    if (at(data, 'error')) answer.error = errorOf(data, 'status')
    for (const part of list(at(data, 'candidates', 0, 'content', 'parts'))) {
      answer.text += textOf(at(part, 'text'))
      const call = at(part, 'functionCall')
      if (call) answer.toolCall = callOf(at(call, 'name'), at(call, 'args'))
    }
    const usage = at(data, 'usageMetadata')
    if (usage) answer.usage = usageOf(at(usage, 'promptTokenCount'), at(usage, 'candidatesTokenCount'))
  },
}

export const openaiClient: WireClient = {
  name: 'openai',
  tools: { Bash: 'exec_command', Write: 'apply_patch' },
  overloadStatus: 503,
  failFirstStatus: 400,
  path: () => '/v1/responses',
  keyHeaders: (key) => ({ authorization: `Bearer ${key}` }),
  body: ({ said, stream, system, tools }) => ({
    model: 'gpt-test',
    stream,
    instructions: system,
    tools: tools?.map((name) => ({ type: 'function', name })),
    input: objects(said).map(({ isUser, text, images, toolResult }) => {
      if (toolResult !== undefined) return { type: 'function_call_output', call_id: 't1', output: toolResult }
      const content = [
        ...(text === undefined ? [] : [{ type: isUser ? 'input_text' : 'output_text', text }]),
        ...repeat(images, { type: 'input_image', image_url: `data:image/png;base64,${image}` }),
      ]
      return { type: 'message', role: isUser ? 'user' : 'assistant', content }
    }),
  }),
  addTo(answer, data) {
    if (at(data, 'error')) answer.error = errorOf(data, 'type')
    if (at(data, 'type') === 'response.output_text.delta') answer.text += textOf(at(data, 'delta'))
    const done = at(data, 'object') === 'response' ? data : at(data, 'response')
    if (at(done, 'status') !== 'completed') return
    answer.usage = usageOf(at(done, 'usage', 'input_tokens'), at(done, 'usage', 'output_tokens'))
    for (const item of list(at(done, 'output'))) {
      if (at(item, 'type') === 'message') answer.text = textOf(at(item, 'content', 0, 'text'))
      if (at(item, 'type') !== 'function_call') continue
      answer.toolCall = callOf(at(item, 'name'), JSON.parse(textOf(at(item, 'arguments'))))
    }
  },
}

function errorOf(data: unknown, type: string): ReceivedAnswer['error'] {
  return { message: textOf(at(data, 'error', 'message')), type: textOf(at(data, 'error', type)) }
}

function callOf(name: unknown, input: unknown): ReceivedAnswer['toolCall'] {
  return { name: textOf(name), input }
}

/** Sends a request and reads the answer to its end or to the cut. */
export async function ask(
  client: WireClient,
  url: string,
  asking: Asking,
  key = 'key-1',
): Promise<ReceivedAnswer> {
  const response = await fetch(url + client.path(asking.stream), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...client.keyHeaders(key) },
    body: JSON.stringify(client.body(asking)),
    signal: asking.signal,
  })
  const answer: ReceivedAnswer = {
    status: response.status,
    headers: response.headers,
    text: '',
    toolCall: null,
    usage: null,
    error: null,
    isBroken: false,
    spreadMs: 0,
  }
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  try {
    if (isEvents) await readEvents(client, response, answer)
    else client.addTo(answer, await response.json())
  } catch (cause) {
    if (asking.signal?.aborted) throw cause
    answer.isBroken = true
  }
  return answer
}

async function readEvents(client: WireClient, response: Response, answer: ReceivedAnswer): Promise<void> {
  let rest = ''
  let first: number | null = null
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    const events = (rest + Buffer.from(chunk).toString('utf8')).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const before = answer.text
      client.addTo(answer, JSON.parse(event.slice(event.indexOf('data: ') + 6)))
      if (answer.text === before) continue
      first ??= performance.now()
      answer.spreadMs = performance.now() - first
    }
  }
}
