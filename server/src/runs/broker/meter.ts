import { StringDecoder } from 'node:string_decoder'
import type { Provider } from './provider-rules.ts'
import {
  type Metered,
  noTokens,
  plus,
  readUsage,
  type Tier,
  tokensOfBytes,
  tokensOfText,
} from './usage-rules.ts'

/** Reads the usage that a response reports, while its bytes pass through. */
export type Meter = {
  /** Returns true when this chunk completed the final count. */
  feed(chunk: Buffer): boolean
  /** Call when the response has ended, completely or not. */
  end(): void
  /** Number of stream events that carried output; 0 for other responses. */
  pieces(): number
  /** Null until usage was reported. */
  metered(): Metered | null
  /** True when the provider has reported the usage of the whole response. */
  isFinal(): boolean
  /** Output tokens so far, estimated from the output that passed. */
  estimatedOutput(): number
  model(): string | null
}

/** Larger events and documents are forwarded without being read. */
const maxDocumentBytes = 32 * 1024 * 1024
/** Larger events carry a file, whose length says nothing about tokens. */
const maxPieceLength = 64 * 1024
/** Providers nest output about ten levels deep. */
const maxDepth = 50
/** Where a response carries text, reasoning (a signature encrypts it) and tool arguments. */
const outputKeys = new Set(['text', 'delta', 'thinking', 'signature', 'partial_json', 'content', 'arguments'])

/**
 * With `counts` false nothing is read, for error responses. `tier` is the one from the headers; the response
 * may override it.
 */
export function createMeter(
  provider: Provider,
  {
    contentType,
    counts = true,
    tier = 'standard',
  }: { contentType?: string | undefined; counts?: boolean; tier?: Tier },
): Meter {
  if (!counts) {
    return {
      ...{ feed: () => false, end() {}, metered: () => null, model: () => null },
      ...{ pieces: () => 0, isFinal: () => false, estimatedOutput: () => 0 },
    }
  }
  const isStream = contentType?.toLowerCase().includes('text/event-stream') ?? false
  let metered: Metered | null = null
  let model: string | null = null
  let pieces = 0
  let extra = noTokens
  let outputBytes = 0
  let isWhole = false

  function readEvent(text: string): boolean {
    const isPiece = text.includes('delta"') || text.includes('"candidates"')
    const hasUsage = reportsUsage(text)
    const isShort = isPiece && text.length <= maxPieceLength
    if (isPiece) pieces += 1
    if (!hasUsage && !isShort) return false
    const document = parsed(text)
    if (isShort) outputBytes += outputLength(document)
    const isFinal = hasUsage && readUsageOf(document)
    isWhole ||= isFinal
    return isFinal
  }

  /** Returns the estimated tokens of a document without usage; null for one that is not whole, which is no JSON. */
  function readDocument(text: string): number | null {
    const document = parsed(text)
    if (document === null) return null
    readUsageOf(document)
    isWhole = metered !== null
    return tokensOfText(outputLength(document))
  }

  /** Returns true for the last count of a stream. */
  function readUsageOf(document: unknown): boolean {
    let isFinal = false
    // Without `alt=sse` Google streams one array of documents.
    for (const each of Array.isArray(document) ? document : [document]) {
      const reported = readUsage(provider, each)
      if (!reported) continue
      const before: Metered = metered ?? {
        tokens: noTokens,
        tier,
        isUsInference: false,
        parts: null,
        context: null,
      }
      metered = {
        tokens: { ...before.tokens, ...reported.tokens },
        tier: reported.tier ?? before.tier,
        isUsInference: reported.isUsInference ?? before.isUsInference,
        parts: reported.parts ?? before.parts,
        context: reported.context ?? before.context,
        ...(reported.isGuess || before.isGuess ? { isGuess: true } : {}),
      }
      extra = reported.extra ?? extra
      model = reported.model ?? model
      isFinal = reported.isFinal
    }
    return isFinal
  }

  const counting = {
    metered: () => metered && { ...metered, tokens: plus(metered.tokens, extra) },
    model: () => model,
    isFinal: () => isWhole,
  }
  if (isStream) {
    const estimatedOutput = () => Math.max(pieces, tokensOfText(outputBytes))
    return { ...eventReader(readEvent), ...counting, pieces: () => pieces, estimatedOutput }
  }
  return { ...documentReader(readDocument), ...counting, pieces: () => 0 }
}

/** Events that name no usage, or none yet, are not parsed for it. */
function reportsUsage(text: string): boolean {
  return /"usage(?:Metadata)?"\s*:\s*\{/.test(text)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Bytes of the output in one event or document. */
function outputLength(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return 0
  let bytes = 0
  for (const [key, each] of Object.entries(value)) {
    if (typeof each !== 'string') bytes += outputLength(each, depth + 1)
    else if (outputKeys.has(key)) bytes += Buffer.byteLength(each)
  }
  return bytes
}

/** Reads `data:` lines; each holds one document, as all three providers write them. */
function eventReader(read: (text: string) => boolean): Pick<Meter, 'feed' | 'end'> {
  const decoder = new StringDecoder('utf8')
  /** The parts of the current line: joined once, because a line may be megabytes long. */
  let parts: string[] = []
  let length = 0
  const add = (part: string) => {
    length += part.length
    if (length > maxDocumentBytes) parts = []
    else if (part !== '') parts.push(part)
  }
  const readLine = () => {
    const line = length > maxDocumentBytes ? '' : parts.join('')
    parts = []
    length = 0
    return line.startsWith('data:') ? read(line.slice(5)) : false
  }
  return {
    feed(chunk) {
      const text = decoder.write(chunk)
      let isFinal = false
      let start = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
        add(text.slice(start, end))
        isFinal = readLine() || isFinal
        start = end + 1
      }
      add(text.slice(start))
      return isFinal
    },
    end() {
      readLine()
    },
  }
}

function documentReader(
  read: (text: string) => number | null,
): Pick<Meter, 'feed' | 'end' | 'estimatedOutput'> {
  let chunks: Buffer[] = []
  let size = 0
  let tokens = 0
  return {
    feed(chunk) {
      size += chunk.length
      tokens += tokensOfBytes(chunk)
      if (size <= maxDocumentBytes) chunks.push(chunk)
      else chunks = []
      return false
    },
    end() {
      if (size <= maxDocumentBytes) tokens = read(Buffer.concat(chunks).toString('utf8')) ?? tokens
    },
    estimatedOutput: () => tokens,
  }
}
