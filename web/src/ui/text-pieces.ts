const pieceLength = 4000

/** A text in pieces of some thousand characters, cut between lines where there are any. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length; ) {
    const most = from + pieceLength
    const lineEnd = most < text.length ? text.lastIndexOf('\n', most) : -1
    const to = most >= text.length ? text.length : lineEnd > from ? lineEnd + 1 : whole(text, most)
    const piece = text.slice(from, to)
    // Each piece is a block of its own, which ends its last line already.
    pieces.push(to < text.length && piece.endsWith('\n') ? piece.slice(0, -1) : piece)
    from = to
  }
  return pieces
}

/** Not between the halves of a character. */
function whole(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at
}
