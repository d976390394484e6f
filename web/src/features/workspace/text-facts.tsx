import { useMemo } from 'react'
import { plural } from '../../lib/format.ts'
import { Bytes } from '../../ui/bytes.tsx'
import { fromEditable, type LineEnds } from './text-file.ts'

const endWords = {
  lf: null,
  crlf: 'CRLF line endings',
  mixed: 'Mixed line endings; saving converts all to LF',
}

/** The line below a text: its size, and unusual line endings. */
export function TextFacts({ text, ends }: { text: string; ends: LineEnds }) {
  const { bytes, lines } = useMemo(() => {
    const raw = fromEditable({ text, ends })
    return { bytes: new TextEncoder().encode(raw).length, lines: countLines(text) }
  }, [text, ends])
  return (
    <p className="flex shrink-0 flex-wrap gap-x-4 px-4 py-2 text-xs text-muted">
      <Bytes bytes={bytes} />
      <span data-numeric>{plural(lines, 'line')}</span>
      {endWords[ends] && <span>{endWords[ends]}</span>}
    </p>
  )
}

/** A final line feed does not start a new line. */
function countLines(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
}
