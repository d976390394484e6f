/**
 * A part of a text that can be rendered independently. `isPlain`: too long or too nested to format within one
 * or two frames.
 */
export type MarkdownBlock =
  | { kind: 'markdown'; source: string; isPlain: boolean }
  | { kind: 'code'; code: string; language: string; isClosed: boolean }

/** Longer text is shown unformatted, in characters. */
export const maxFormattedLength = 300_000

/**
 * Splits Markdown into independent blocks, so that a growing answer parses only its last block again. Short
 * parts share a block, because each block has a fixed cost.
 */
export function markdownBlocks(text: string): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = []
  for (const part of markdownParts(text)) {
    const last = blocks.at(-1)
    const isJoined = part.kind === 'markdown' && !part.isPlain && last !== undefined && isShort(last)
    if (isJoined) blocks[blocks.length - 1] = markdownBlock(`${last.source}\n\n${part.source}`)
    else blocks.push(part)
  }
  return blocks
}

const shortBlock = 1500

function isShort(part: MarkdownBlock): part is MarkdownBlock & { kind: 'markdown' } {
  return part.kind === 'markdown' && !part.isPlain && part.source.length < shortBlock
}

/**
 * Splits Markdown at top-level parts. When in doubt it does not split, which only costs time. Later text
 * never changes earlier parts, except for link definitions, which are copied to every part that uses them.
 */
export function markdownParts(text: string): MarkdownBlock[] {
  // Footnotes are numbered across the whole text.
  if (/^\[\^[^\]\n]{1,100}\]:/m.test(text)) return [markdownBlock(text)]
  const parts = partsOf(text)
  const definitions = definitionsOf(parts)
  if (definitions.size === 0) return parts
  return parts.flatMap((part) => {
    if (part.kind === 'code') return [part]
    // Definitions alone render nothing.
    return part.source.replace(definition, '').trim() === '' ? [] : [withDefinitions(part, definitions)]
  })
}

type Fence = { mark: string; length: number; indent: number; isTop: boolean }

function partsOf(text: string): MarkdownBlock[] {
  const parts: MarkdownBlock[] = []
  let lines: string[] = []
  let language = ''
  let fence: Fence | null = null
  let hasList = false
  let isBehindBlank = false

  function close() {
    while (lines.at(-1)?.trim() === '') lines.pop()
    if (lines.length > 0) parts.push(markdownBlock(lines.join('\n')))
    lines = []
    hasList = false
    isBehindBlank = false
  }

  function closeCode(isClosed: boolean) {
    parts.push({ kind: 'code', code: lines.join('\n'), language, isClosed })
    lines = []
    fence = null
  }

  for (const line of text.split(/\r\n|\n|\r/)) {
    if (fence?.isTop) {
      if (closes(line, fence)) closeCode(true)
      else lines.push(withoutIndent(line, fence.indent))
      continue
    }
    // A fence inside a list or quote ends with it.
    if (fence && (closes(line.replace(/^[\s>]+/, ''), fence) || /^[^\s>]/.test(line))) {
      const isEnd = closes(line.replace(/^[\s>]+/, ''), fence)
      fence = null
      if (isEnd) {
        lines.push(line)
        continue
      }
    }
    if (line.trim() === '') {
      if (lines.length > 0) lines.push(line)
      isBehindBlank = lines.length > 0
      continue
    }
    const opened: Fence | null = fence ? null : opens(line, hasList)
    if (opened?.isTop) {
      close()
      fence = opened
      language = languageOf(line)
      continue
    }
    // A number alone may be the start of a list item.
    const isItem = /^ {0,3}(?:[-*+]|\d{1,9}(?:[.)]|$))(?:\s|$)/.test(line)
    if (isBehindBlank && !fence && /^\S/.test(line) && !(hasList && isItem)) close()
    if (opened) fence = opened
    hasList ||= isItem
    isBehindBlank = false
    lines.push(line)
  }
  if (fence?.isTop) closeCode(false)
  else close()
  return parts
}

function opens(line: string, hasList: boolean): Fence | null {
  const match = /^([ \t>]{0,40}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?[ \t]{0,8})(`{3,}(?=[^`]*$)|~{3,})/.exec(
    line,
  )
  const [, before = '', marks = ''] = match ?? []
  if (!match) return null
  const isTop = /^ {0,3}$/.test(before) && !(hasList && before.length >= 2)
  return { mark: marks.charAt(0), length: marks.length, indent: before.length, isTop }
}

function closes(line: string, { mark, length }: Fence): boolean {
  const text = line.replace(/^ {0,3}/, '').trimEnd()
  return text.length >= length && text === mark.repeat(text.length)
}

function languageOf(line: string): string {
  return /^[\s`~]*([^\s`~{]{1,40})/.exec(line)?.[1] ?? ''
}

function withoutIndent(line: string, indent: number): string {
  let from = 0
  while (from < indent && line[from] === ' ') from += 1
  return line.slice(from)
}

const definition = /^ {0,3}\[([^\]\n]{1,200})\]:[^\n]{1,2000}$/gm

type Definitions = Map<string, string>

function definitionsOf(parts: MarkdownBlock[]): Definitions {
  const found: Definitions = new Map()
  for (const part of parts) {
    if (part.kind !== 'markdown' || part.isPlain) continue
    for (const [line, label = ''] of part.source.matchAll(definition)) {
      const key = label.toLowerCase()
      if (!found.has(key)) found.set(key, line)
    }
  }
  return found
}

function withDefinitions(
  part: MarkdownBlock & { kind: 'markdown' },
  definitions: Definitions,
): MarkdownBlock {
  const named = new Set<string>()
  for (const [, label = ''] of part.source.matchAll(/\[([^\][\n]{1,200})\]/g)) {
    const line = definitions.get(label.toLowerCase())
    if (line !== undefined) named.add(line)
  }
  return named.size === 0 ? part : markdownBlock(`${part.source}\n\n${[...named].join('\n')}`)
}

function markdownBlock(source: string): MarkdownBlock & { kind: 'markdown' } {
  return { kind: 'markdown', source, isPlain: isTooMuch(source) }
}

/**
 * Bounds the formatter's input: its time is quadratic in unclosed marks, and its stack grows with nesting.
 */
export function isTooMuch(source: string): boolean {
  if (source.length > longestBlock) return true
  if (
    /^[ \t]*(?:(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))[ \t]*){25}/m.test(source) ||
    /^[ \t]{100}/m.test(source)
  )
    return true
  // Repeated marks, adjacent as in `[[[[` or spread over one paragraph as in `*a **a *a`.
  if (/[[\]()!*_~<`]{60}/.test(source)) return true
  return maxMarksInParagraph(source) > maxMarks
}

const longestBlock = 40_000
const maxMarks = 1500

function maxMarksInParagraph(source: string): number {
  let most = 0
  let marks = 0
  for (let index = 0; index < source.length; index += 1) {
    const character = source.charAt(index)
    if (character === '\n' && source.charAt(index + 1) === '\n') marks = 0
    else if ('[]*_~<`!&\\'.includes(character)) marks += 1
    if (marks > most) most = marks
  }
  return most
}
