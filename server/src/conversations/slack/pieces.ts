/** So much of an answer goes into one message of Slack, which shows up to about 4,000 characters well. */
const pieceLength = 3500
export const mostPieces = 12

/**
 * Cuts Markdown into pieces of at most about `length` characters, at an empty line where there is one near, else
 * at the end of a line, else at a space. A block of code that is cut is closed, and opened again in the next piece.
 */
export function cut(markdown: string, length = pieceLength): string[] {
  const pieces: string[] = []
  let rest = markdown.trim()
  let fence: string | null = null
  while (rest !== '') {
    const opened: string = fence === null ? '' : `${fence}\n`
    const end = rest.length <= length ? rest.length : placeToCut(rest, length)
    const piece = opened + rest.slice(0, end).trimEnd()
    rest = fence === null ? rest.slice(end).trimStart() : rest.slice(end).replace(/^\n/, '')
    fence = openFence(piece)
    pieces.push(fence === null || rest === '' ? piece : `${piece}\n${marksOf(fence)}`)
    // A block that nothing follows in needs no opening.
    if (fence !== null && rest.trim() === marksOf(fence)) rest = ''
  }
  return pieces
}

function placeToCut(text: string, length: number): number {
  const window = text.slice(0, length)
  for (const [mark, least] of [
    ['\n\n', length / 2],
    ['\n', length / 3],
    [' ', length / 3],
  ] as const) {
    const at = window.lastIndexOf(mark)
    if (at >= least) return at
  }
  // Never between the two halves of one character.
  return /[\uD800-\uDBFF]$/.test(window) ? length - 1 : length
}

/** The opening line of the block of code that a text ends in; null when it ends in none. */
function openFence(text: string): string | null {
  let open: string | null = null
  for (const line of text.split('\n')) {
    const fence = /^ {0,3}((`{3,}|~{3,})[^`]*)$/.exec(line)?.[1]
    if (fence === undefined) continue
    if (open === null) open = fence.trimEnd()
    // The closing line has marks alone: of the same kind, and not fewer.
    else if (fence.trim() === marksOf(fence) && fence.startsWith(marksOf(open))) open = null
  }
  return open
}

function marksOf(fence: string): string {
  return /^(`+|~+)/.exec(fence)?.[0] ?? ''
}
