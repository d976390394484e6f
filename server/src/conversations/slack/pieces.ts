/** Characters per Slack message. Slack displays up to about 4,000 well. */
const pieceLength = 3500
export const maxPieces = 12

/**
 * Splits Markdown into pieces of at most about `length` characters. Prefers an empty line, then the end of a line, then
 * a space. A code block that is cut is closed and reopened in the next piece.
 */
export function splitMarkdown(markdown: string, length = pieceLength): string[] {
  const pieces: string[] = []
  let rest = markdown.trim()
  let fence: string | null = null
  while (rest !== '') {
    const reopened: string = fence === null ? '' : `${fence}\n`
    const end = rest.length <= length ? rest.length : cutPosition(rest, length)
    const piece = reopened + rest.slice(0, end).trimEnd()
    rest = fence === null ? rest.slice(end).trimStart() : rest.slice(end).replace(/^\n/, '')
    fence = openFence(piece)
    pieces.push(fence === null || rest === '' ? piece : `${piece}\n${marksOf(fence)}`)
    // Do not reopen a block that has no more content.
    if (fence !== null && rest.trim() === marksOf(fence)) rest = ''
  }
  return pieces
}

function cutPosition(text: string, length: number): number {
  const window = text.slice(0, length)
  for (const [mark, least] of [
    ['\n\n', length / 2],
    ['\n', length / 3],
    [' ', length / 3],
  ] as const) {
    const at = window.lastIndexOf(mark)
    if (at >= least) return at
  }
  // Never split a surrogate pair.
  return /[\uD800-\uDBFF]$/.test(window) ? length - 1 : length
}

/** Returns the opening line of the code block that the text ends in, or null. */
function openFence(text: string): string | null {
  let open: string | null = null
  for (const line of text.split('\n')) {
    const fence = /^ {0,3}((`{3,}|~{3,})[^`]*)$/.exec(line)?.[1]
    if (fence === undefined) continue
    if (open === null) open = fence.trimEnd()
    // A closing line has only marks: the same kind, and at least as many.
    else if (fence.trim() === marksOf(fence) && fence.startsWith(marksOf(open))) open = null
  }
  return open
}

function marksOf(fence: string): string {
  return /^(`+|~+)/.exec(fence)?.[0] ?? ''
}
