import { useState } from 'react'
import { Button } from './button.tsx'
import { cx } from './class-names.ts'
import type { DiffLine } from './diff-lines.ts'
import { ScrollRegion } from './scroll-region.tsx'

export type DiffViewProps = { lines: readonly DiffLine[]; label: string }

/** The lines of a unified diff with their signs, loaded in pages. */
export function DiffView({ lines, label }: DiffViewProps) {
  const [shown, setShown] = useState(linesPerPage)
  const left = lines.length - shown
  return (
    <div className="min-w-0 overflow-hidden rounded-md border border-line bg-sunken">
      <ScrollRegion label={label} className={scroller}>
        <pre className="w-max min-w-full py-1">
          {lines.slice(0, shown).map(({ kind, text }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified only by their position
            <div key={index} className={cx('min-h-5 px-3', looks[kind])}>
              {text}
            </div>
          ))}
        </pre>
      </ScrollRegion>
      {left > 0 && (
        <div className="border-line border-t p-2">
          <Button size="sm" onClick={() => setShown(shown + linesPerPage)}>
            Show {Math.min(left, linesPerPage)} more of {left} lines
          </Button>
        </div>
      )}
    </div>
  )
}

const linesPerPage = 500

const scroller =
  'max-h-[60vh] overflow-auto font-mono text-xs leading-5 [font-variant-ligatures:none] -outline-offset-2'

/** The sign before each line repeats the meaning of its colour. */
const looks: Readonly<Record<DiffLine['kind'], string>> = {
  added: 'bg-success-soft text-ink',
  removed: 'bg-danger-soft text-ink',
  same: 'text-muted',
  place: 'bg-hover text-muted',
  note: 'text-muted italic',
}
