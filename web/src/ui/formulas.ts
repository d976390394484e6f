export type Formula = { tex: string; isDisplay: boolean }

/** In characters. Longer formulas stay text: drawing takes time, and nobody writes them. */
const longestFormula = 2000
/** Where the search for the end of a code span ends. */
const longestCode = 10_000

// Private characters: they begin the code span that stands for a formula.
const inlineMark = '\uE0F1'
const displayMark = '\uE0F2'
const marked = /`([\uE0F1\uE0F2][^`]*)`/g

/**
 * Replaces the formulas of Markdown with code spans that `formulaOf` reads, because the Markdown parser would change
 * their text. Code stays as it is.
 */
export function markFormulas(source: string): string {
  let result = ''
  let index = 0
  let fence: string | null = null
  while (index < source.length) {
    if (index === 0 || source[index - 1] === '\n') {
      const line = lineAt(source, index)
      const [, marks = null] = /^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}|~{3,})/.exec(line) ?? []
      if (fence !== null || marks !== null) {
        if (fence === null) fence = marks
        else if (marks?.startsWith(fence)) fence = null
        result += line
        index += line.length
        continue
      }
    }
    const taken = spanAt(source, index)
    result += taken.text
    index += taken.length
  }
  return result
}

function lineAt(source: string, index: number): string {
  const end = source.indexOf('\n', index)
  return source.slice(index, end === -1 ? undefined : end + 1)
}

type Span = { text: string; length: number }

function spanAt(source: string, index: number): Span {
  const asIs = (length: number): Span => ({ text: source.slice(index, index + length), length })
  const next = source[index + 1]
  switch (source[index]) {
    case '`': {
      const marks = /^`+/.exec(source.slice(index, index + 100))?.[0] ?? '`'
      return asIs(codeLength(source, index, marks) ?? marks.length)
    }
    case '\\':
      if (next === '(') return latex(source, index, '\\)') ?? asIs(2)
      if (next === '[') return latex(source, index, '\\]') ?? asIs(2)
      return asIs(2)
    case '$':
      if (next === '$') return doubled(source, index) ?? asIs(2)
      return single(source, index) ?? asIs(1)
    default:
      return asIs(1)
  }
}

/** The length of a code span; null for marks without an end in the same paragraph. */
function codeLength(source: string, index: number, marks: string): number | null {
  const [paragraph = ''] = source.slice(index, index + longestCode).split('\n\n', 1)
  for (const run of paragraph.slice(marks.length).matchAll(/`+/g))
    if (run[0].length === marks.length) return marks.length + run.index + run[0].length
  return null
}

/** `\(…\)` and `\[…\]`. Both can also be escaped brackets of prose, so `\[` needs lines of its own. */
function latex(source: string, index: number, close: string): Span | null {
  const end = closing(source, index + 2, close)
  if (end === null) return null
  const isDisplay = close === '\\]'
  const isFormula = isDisplay ? isAlone(source, index, end + 2) : !/\w/.test(source[index - 1] ?? '')
  return isFormula ? span(source, index, end, 2, isDisplay) : null
}

function doubled(source: string, index: number): Span | null {
  const end = closing(source, index + 2, '$$')
  if (end === null || source.slice(index + 2, end).includes('$')) return null
  return span(source, index, end, 2, isAlone(source, index, end + 2))
}

/** `$…$`, but not amounts of money or shell variables. */
function single(source: string, index: number): Span | null {
  const [before = '', first = ''] = [source[index - 1], source[index + 1]]
  if (/[\w$]/.test(before) || /\s/.test(first)) return null
  let end = closing(source, index + 1, '$')
  while (end !== null && source[end - 1] === '\\') end = closing(source, end + 1, '$')
  if (end === null) return null
  const [last = '', after = ''] = [source[end - 1], source[end + 1]]
  const tex = source.slice(index + 1, end)
  if (/\s/.test(last) || /[\w$]/.test(after) || tex.includes('\n') || isProse(tex)) return null
  return span(source, index, end, 1, false)
}

/** “5 to 10” and “5/month and 10”, as between two dollar signs of a sentence. */
function isProse(tex: string): boolean {
  if (/[\\^_={}]/.test(tex)) return false
  return /^\d[\d.,]*\s*\/?\s*[a-z]{2,}/i.test(tex) || /[a-z]{2,}[,;:]?\s+[a-z]{2,}/i.test(tex)
}

function closing(source: string, from: number, close: string): number | null {
  const within = source.slice(from, from + longestFormula + close.length)
  const length = within.indexOf(close)
  const tex = within.slice(0, Math.max(0, length))
  return tex.trim() === '' || /\n[ \t>]*\n/.test(tex) ? null : from + length
}

/** Whether nothing else stands on the lines of the formula, except marks of a list or quote and a full stop. */
function isAlone(source: string, start: number, end: number): boolean {
  const before = source.slice(source.lastIndexOf('\n', start - 1) + 1, start)
  return /^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?$/.test(before) && /^[ \t]*[.,;]?[ \t]*$/m.test(lineAt(source, end))
}

function span(source: string, start: number, end: number, marks: number, isDisplay: boolean): Span {
  const length = end + marks - start
  const text = source.slice(start, start + length).toWellFormed()
  const mark = isDisplay ? displayMark : inlineMark
  return { text: `\`${mark}${encodeURIComponent(text)}\``, length }
}

/** The formula of a code span; null for code. */
export function formulaOf(code: string): Formula | null {
  const mark = code[0]
  if (mark !== inlineMark && mark !== displayMark) return null
  const text = written(code)
  const marks = text.startsWith('$') && !text.startsWith('$$') ? 1 : 2
  // The marks of a quote are part of its lines.
  const tex = text.slice(marks, -marks).replaceAll(/\n[ \t]*>+/g, '\n')
  return { tex: tex.trim(), isDisplay: mark === displayMark }
}

/** The text with its formulas as they were written, for places that show code. */
export function withoutMarks(text: string): string {
  return text.replaceAll(marked, (_span, code: string) => written(code))
}

function written(code: string): string {
  try {
    return decodeURIComponent(code.slice(1))
  } catch {
    // The text contains the private character itself.
    return code
  }
}

/** Formulas that define commands are not drawn: few characters can expand to very many. */
export const definesCommands = (tex: string) =>
  /\\(?:[egx]?def|let|futurelet|global|(?:re)?newcommand|providecommand)(?![a-zA-Z])/.test(tex)
