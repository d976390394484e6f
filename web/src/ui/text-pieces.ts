const pieceLength = 4000

/** Splits a text into pieces of a few thousand characters, at line ends where possible. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length; ) {
    const most = from + pieceLength
    const lineEnd = most < text.length ? text.lastIndexOf('\n', most) : -1
    const to = most >= text.length ? text.length : lineEnd > from ? lineEnd + 1 : whole(text, most)
    const piece = text.slice(from, to)
    // Each piece is a block element, which already ends its last line.
    pieces.push(to < text.length && piece.endsWith('\n') ? piece.slice(0, -1) : piece)
    from = to
  }
  return pieces
}

/** Avoids splitting a surrogate pair. */
function whole(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at
}
