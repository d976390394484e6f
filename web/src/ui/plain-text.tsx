import { useMemo } from 'react'
import { cx } from './class-names.ts'
import { ScrollRegion } from './scroll-region.tsx'
import { piecesOf } from './text-pieces.ts'

export type PlainTextProps = {
  text: string
  /** Why the text is not formatted; shown above it. */
  note?: string
  label?: string
  className?: string
}

/**
 * Unformatted text of any length. It wraps, scrolls inside, and the browser lays out only the pieces near the
 * screen.
 */
export function PlainText({ text, note, label = 'Text', className }: PlainTextProps) {
  const pieces = useMemo(() => piecesOf(text), [text])
  return (
    <div className={cx('min-w-0', className)}>
      {note && <p className="mb-1.5 text-xs text-muted">{note}</p>}
      <ScrollRegion label={label} className={well}>
        {pieces.map((piece, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces are identified only by their position
          <div key={index} className={pieceClass}>
            {piece}
          </div>
        ))}
      </ScrollRegion>
    </div>
  )
}

const well =
  'max-h-[60vh] overflow-auto rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs leading-5 [font-variant-ligatures:none]'

const pieceClass =
  'whitespace-pre-wrap [overflow-wrap:anywhere] [content-visibility:auto] [contain-intrinsic-size:auto_400px]'
