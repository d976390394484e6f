/** Part of a line and the token classes of its style. */
export type AnsiSpan = { text: string; className: string }

/** Terminal escape sequences, and control characters other than the tab. */
const sequences =
  // biome-ignore lint/complexity/useRegexLiterals: control characters are readable only as escapes
  new RegExp(
    '\\x1b\\[([0-?]*)[ -/]*([@-~])|\\x1b\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)?|\\x1b.?|[\\x00-\\x08\\x0a-\\x1a\\x1c-\\x1f\\x7f]',
    'g',
  )

export function withoutAnsi(line: string): string {
  return hasControls(line) ? line.replace(sequences, '') : line
}

/**
 * Splits a line into pieces of one style each. Colours end with the line, so that each line can be shown on
 * its own.
 */
export function ansiSpans(line: string): AnsiSpan[] {
  if (!hasControls(line)) return [{ text: line, className: '' }]
  const spans: AnsiSpan[] = []
  let look: Look = plain
  let from = 0
  const add = (to: number) => {
    if (to > from) spans.push({ text: line.slice(from, to), className: classOf(look) })
  }
  for (const match of line.matchAll(sequences)) {
    add(match.index)
    from = match.index + match[0].length
    if (match[2] === 'm') look = changed(look, match[1] ?? '')
  }
  add(line.length)
  return spans
}

function hasControls(line: string): boolean {
  for (let index = 0; index < line.length; index += 1) {
    const code = line.charCodeAt(index)
    if ((code < 32 && code !== 9) || code === 127) return true
  }
  return false
}

type Look = { ink: string; ground: string; marks: readonly string[] }
const plain: Look = { ink: '', ground: '', marks: [] }

/** Black and white use the page's text colour: one of the two would be invisible in each theme. */
const inks = [
  'text-muted',
  'text-danger',
  'text-success',
  'text-warning',
  'text-info',
  'text-accent',
  'text-info',
  'text-ink',
]
const grounds = [
  '',
  'bg-danger-soft',
  'bg-success-soft',
  'bg-warning-soft',
  'bg-info-soft',
  'bg-accent-soft',
  'bg-info-soft',
  '',
]
const faint = 'text-muted'
const marks: Record<number, string> = {
  1: 'font-semibold',
  2: faint,
  3: 'italic',
  4: 'underline',
  9: 'line-through',
}
const markEnds: Record<number, string> = {
  22: 'font-semibold',
  23: 'italic',
  24: 'underline',
  29: 'line-through',
}

function changed(look: Look, parameters: string): Look {
  const codes = parameters.slice(0, 100).split(/[;:]/).map(Number)
  let next = look
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0
    if (code === 38 || code === 48) {
      const isIndexed = codes[index + 1] === 5
      next = withColour(next, code === 38, isIndexed ? (codes[index + 2] ?? -1) : -1)
      index += isIndexed ? 2 : 4
    } else next = withCode(next, code)
  }
  return next
}

function withCode(look: Look, code: number): Look {
  if (code === 0) return plain
  if (code === 39) return { ...look, ink: '' }
  if (code === 49) return { ...look, ground: '' }
  const [mark, end] = [marks[code], markEnds[code]]
  if (mark) return { ...look, marks: [...look.marks.filter((other) => other !== mark), mark] }
  if (end)
    return {
      ...look,
      marks: look.marks.filter((other) => other !== end && !(code === 22 && other === faint)),
    }
  if (code >= 30 && code <= 37) return withColour(look, true, code - 30)
  if (code >= 90 && code <= 97) return withColour(look, true, code - 90)
  if (code >= 40 && code <= 47) return withColour(look, false, code - 40)
  if (code >= 100 && code <= 107) return withColour(look, false, code - 100)
  return look
}

/** The first sixteen of the 256 colours have names in every terminal; there is no token for the others. */
function withColour(look: Look, isInk: boolean, colour: number): Look {
  const of = (tokens: string[]) => (colour >= 0 && colour < 16 ? (tokens[colour % 8] ?? '') : '')
  return isInk ? { ...look, ink: of(inks) } : { ...look, ground: of(grounds) }
}

function classOf({ ink, ground, marks }: Look): string {
  const remaining = ink === '' ? marks : marks.filter((mark) => mark !== faint)
  return [ink, ground, ...remaining].filter(Boolean).join(' ')
}
