import { StringDecoder } from 'node:string_decoder'
import type { Provider } from './provider-rules.ts'
import { type Metered, noTokens, readUsage, type Tier } from './usage-rules.ts'

/** Reads the usage that a response reports, while its bytes pass through. */
export type Meter = {
  /** Returns true when this chunk completed the final count. */
  feed(chunk: Buffer): boolean
  /** Call when the response has ended, completely or not. */
  end(): void
  /** Number of stream events that carried output. */
  pieces(): number
  /** Null until usage was reported. */
  metered(): Metered | null
  model(): string | null
}

/** Larger events and documents are forwarded without being read. */
const maxDocumentBytes = 32 * 1024 * 1024

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
  }: { contentType: string | undefined; counts?: boolean; tier?: Tier },
): Meter {
  if (!counts) {
    return { feed: () => false, end() {}, pieces: () => 0, metered: () => null, model: () => null }
  }
  let metered: Metered | null = null
  let model: string | null = null
  let pieces = 0

  function read(text: string): boolean {
    if (text.includes('delta"') || text.includes('"candidates"')) pieces += 1
    // Most events are pieces of text, which are not parsed.
    if (!text.includes('"usage')) return false
    let document: unknown
    try {
      document = JSON.parse(text)
    } catch {
      return false
    }
    // Without `alt=sse` Google streams one array of documents.
    let isFinal = false
    for (const each of Array.isArray(document) ? document : [document]) {
      const reported = readUsage(provider, each)
      if (!reported) continue
      const before: Metered = metered ?? { tokens: noTokens, tier, isUsInference: false, parts: null }
      metered = {
        tokens: { ...before.tokens, ...reported.tokens },
        tier: reported.tier ?? before.tier,
        isUsInference: reported.isUsInference ?? before.isUsInference,
        parts: reported.parts ?? before.parts,
      }
      model = reported.model ?? model
      isFinal = reported.isFinal
    }
    return isFinal
  }

  const isStream = contentType?.toLowerCase().includes('text/event-stream') ?? false
  const reader = isStream ? eventReader(read) : documentReader(read)
  return { ...reader, pieces: () => (isStream ? pieces : 0), metered: () => metered, model: () => model }
}

/** Reads `data:` lines; each holds one document, as all three providers write them. */
function eventReader(read: (text: string) => boolean): Pick<Meter, 'feed' | 'end'> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  const readLine = (line: string) => (line.startsWith('data:') ? read(line.slice(5)) : false)
  return {
    feed(chunk) {
      const lines = (rest + decoder.write(chunk)).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > maxDocumentBytes) rest = ''
      let isFinal = false
      for (const line of lines) isFinal = readLine(line) || isFinal
      return isFinal
    },
    end() {
      readLine(rest)
    },
  }
}

function documentReader(read: (text: string) => boolean): Pick<Meter, 'feed' | 'end'> {
  let chunks: Buffer[] = []
  let size = 0
  return {
    feed(chunk) {
      size += chunk.length
      if (size <= maxDocumentBytes) chunks.push(chunk)
      else chunks = []
      return false
    },
    end() {
      if (size <= maxDocumentBytes) read(Buffer.concat(chunks).toString('utf8'))
    },
  }
}
