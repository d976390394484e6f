/** A scripted instruction from the user's text, validated and typed. */
export type Directive =
  | { name: 'reply'; text: string }
  | { name: 'echo' | 'model' | 'system' | 'images' | 'len' }
  | { name: 'recall'; key: string }
  | { name: 'pad'; count: number }
  | { name: 'sleep'; seconds: number }
  | { name: 'hold'; key: string }
  | { name: 'drip'; milliseconds: number }
  | { name: 'usage'; input: number; output: number }
  | { name: 'fail'; status: number }
  | { name: 'fail-first'; key: string; count: number }
  | { name: 'ratelimit' | 'autherror' | 'overloaded' | 'cut' }
  | { name: 'tool'; tool: string; input: Record<string, unknown> }

/**
 * Returns the directives of the last line that contains any, from left to right. Text with an unknown name or
 * an invalid argument is ordinary text.
 */
export function findDirectives(text: string): Directive[] {
  for (const line of text.split(/\r\n|\n|\r/).reverse()) {
    const found = directivesOfLine(line)
    if (found.length > 0) return found
  }
  return []
}

function directivesOfLine(line: string): Directive[] {
  const found: Directive[] = []
  let from = 0
  let end = -1
  for (const { index } of line.matchAll(POSSIBLE_START)) {
    if (index < from) continue
    // Searched again only when passed, so that a line with many openings takes linear time.
    if (end < index + 2) end = line.indexOf(']]', index + 2)
    if (end === -1) break
    const directive = parseDirective(line.slice(index + 2, end))
    if (!directive) continue
    found.push(directive)
    from = end + 2
  }
  return found
}

const POSSIBLE_START = /\[\[(?=[a-z])/g

function parseDirective(body: string): Directive | null {
  const colon = body.indexOf(':')
  const name = colon === -1 ? body : body.slice(0, colon)
  const argument = colon === -1 ? null : body.slice(colon + 1)
  switch (name) {
    case 'echo':
    case 'model':
    case 'system':
    case 'images':
    case 'len':
    case 'ratelimit':
    case 'autherror':
    case 'overloaded':
    case 'cut':
      return argument === null ? { name } : null
    case 'fail':
      return parseFail(argument)
    default:
      return argument === null ? null : parseWithArgument(name, argument)
  }
}

function parseWithArgument(name: string, argument: string): Directive | null {
  switch (name) {
    case 'reply':
      return { name, text: argument }
    case 'recall':
    case 'hold':
      return argument === '' ? null : { name, key: argument }
    case 'pad': {
      const count = wholeNumber(argument, MAX_PAD)
      return count === null ? null : { name, count }
    }
    case 'sleep': {
      const seconds = decimalNumber(argument, MAX_WAIT_SECONDS)
      return seconds === null ? null : { name, seconds }
    }
    case 'drip': {
      const milliseconds = decimalNumber(argument, MAX_WAIT_SECONDS * 1000)
      return milliseconds === null ? null : { name, milliseconds }
    }
    case 'usage':
      return parseUsage(argument)
    case 'fail-first':
      return parseFailFirst(argument)
    case 'tool':
      return parseTool(argument)
    default:
      return null
  }
}

/** Enough for any size test; more would exhaust the server's memory. */
const MAX_PAD = 20_000_000
/** Node's timers hold at most 2^31 ms (24 days); no test waits a day. */
const MAX_WAIT_SECONDS = 86_400

function parseFail(argument: string | null): Directive | null {
  if (argument === null) return { name: 'fail', status: 400 }
  const status = wholeNumber(argument, 599)
  return status === null || status < 400 ? null : { name: 'fail', status }
}

function parseUsage(argument: string): Directive | null {
  const [input, output, ...rest] = argument
    .split(',')
    .map((part) => wholeNumber(part, Number.MAX_SAFE_INTEGER))
  if (input == null || output == null || rest.length > 0) return null
  return { name: 'usage', input, output }
}

function parseFailFirst(argument: string): Directive | null {
  const colon = argument.lastIndexOf(':')
  const key = argument.slice(0, Math.max(colon, 0))
  const count = wholeNumber(argument.slice(colon + 1), Number.MAX_SAFE_INTEGER)
  return key === '' || count === null ? null : { name: 'fail-first', key, count }
}

function parseTool(argument: string): Directive | null {
  const colon = argument.indexOf(':')
  const tool = argument.slice(0, Math.max(colon, 0)).trim()
  if (tool === '') return null
  const text = argument.slice(colon + 1)
  const json = parseJsonObject(text)
  // A shell command may start with a brace, so only an object with a `command` counts as JSON.
  if (tool === 'Bash') {
    return { name: 'tool', tool, input: typeof json?.command === 'string' ? json : { command: text } }
  }
  return json === null ? null : { name: 'tool', tool, input: json }
}

function parseJsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    return value as Record<string, unknown> // an object that JSON.parse made has string keys only
  } catch {
    return null
  }
}

function wholeNumber(text: string, largest: number): number | null {
  if (!/^\s*\d+\s*$/.test(text)) return null
  const value = Number(text)
  return value <= largest ? value : null
}

function decimalNumber(text: string, largest: number): number | null {
  if (!/^\s*(\d+(\.\d*)?|\.\d+)\s*$/.test(text)) return null
  const value = Number(text)
  return value <= largest ? value : null
}
