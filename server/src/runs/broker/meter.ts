import { StringDecoder } from 'node:string_decoder'
import type { Provider } from './provider-rules.ts'
import { type Metered, noTokens, readUsage, type Tier } from './usage-rules.ts'

/** Counts what an answer says it used, while its bytes pass by. */
export type Meter = {
  /** True when this piece brought the final count. */
  feed(chunk: Buffer): boolean
  /** The answer has ended, in order or not. */
  end(): void
  /** Pieces of a stream that carried output. */
  pieces(): number
  /** Null while nothing was reported. */
  metered(): Metered | null
  model(): string | null
}

/** An event, or an answer that is not a stream, above this is passed on and not read. */
const longestDocument = 32 * 1024 * 1024

/**
 * `counts` false: nothing is read, for answers that are errors. `tier` is the one that headers name; the answer itself
 * may name another one.
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
    // Most events of a stream are pieces of text: they are passed by without being parsed.
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

/** Lines of `data:`; each holds one document, which is how all three providers write. */
function eventReader(read: (text: string) => boolean): Pick<Meter, 'feed' | 'end'> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  const readLine = (line: string) => (line.startsWith('data:') ? read(line.slice(5)) : false)
  return {
    feed(chunk) {
      const lines = (rest + decoder.write(chunk)).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > longestDocument) rest = ''
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
      if (size <= longestDocument) chunks.push(chunk)
      else chunks = []
      return false
    },
    end() {
      if (size <= longestDocument) read(Buffer.concat(chunks).toString('utf8'))
    },
  }
}
