import { StringDecoder } from 'node:string_decoder'
import { noTokens, type Tokens } from './cost-rules.ts'
import type { Provider } from './prices.ts'
import { readUsage } from './usage-rules.ts'

/** Counts what an answer says it used, while its bytes pass by. */
export type Meter = {
  /** True when this piece brought the final count. */
  feed(chunk: Buffer): boolean
  /** The answer has ended, in order or not. */
  end(): void
  /** Null while nothing was reported. */
  tokens(): Tokens | null
  model(): string | null
}

/** An event, or an answer that is not a stream, above this is passed on and not read. */
const longestDocument = 32 * 1024 * 1024

/** `counts` false: nothing is read, for answers that are errors. */
export function createMeter(
  provider: Provider,
  { contentType, counts = true }: { contentType: string | undefined; counts?: boolean },
): Meter {
  if (!counts) return { feed: () => false, end() {}, tokens: () => null, model: () => null }
  let tokens: Tokens | null = null
  let model: string | null = null

  function read(text: string): boolean {
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
      tokens = { ...(tokens ?? noTokens), ...reported.tokens }
      model = reported.model ?? model
      isFinal = reported.isFinal
    }
    return isFinal
  }

  const isStream = contentType?.toLowerCase().includes('text/event-stream') ?? false
  const reader = isStream ? eventReader(read) : documentReader(read)
  return { ...reader, tokens: () => tokens, model: () => model }
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
