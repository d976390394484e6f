import { type ReactNode, useMemo, useState } from 'react'
import { Button } from './button.tsx'
import { cx } from './class-names.ts'
import type { DiffLine } from './diff-lines.ts'
import { ScrollRegion } from './scroll-region.tsx'

export type DiffViewProps = {
  lines: readonly DiffLine[]
  label: string
  /** Colours the code of a line. */
  colour?: (code: string) => ReactNode
}

/** The lines of a unified diff in a frame. */
export function DiffView(props: DiffViewProps) {
  return (
    <div className="min-w-0 overflow-hidden rounded-md border border-line bg-sunken">
      <DiffRows {...props} />
    </div>
  )
}

/** The lines of a unified diff with their signs and line numbers, loaded in pages. */
export function DiffRows({
  lines,
  label,
  colour,
  isWrapped = false,
}: DiffViewProps & { isWrapped?: boolean }) {
  const [shown, setShown] = useState(linesPerPage)
  const left = lines.length - shown
  const digits = useMemo(() => {
    return String(lines.reduce((most, { old, now }) => Math.max(most, old ?? 0, now ?? 0), 0)).length
  }, [lines])
  return (
    <>
      <ScrollRegion label={label} className={scroller}>
        <pre className={isWrapped ? 'py-1' : 'w-max min-w-full py-1'}>
          {lines.slice(0, shown).map(({ kind, text, old, now }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified only by their position
            <div key={index} className={cx('flex min-h-5', looks[kind])}>
              <LineNumber value={old} digits={digits} />
              <LineNumber value={now} digits={digits} />
              <span
                className={cx(
                  'min-w-0 flex-1 px-3',
                  isWrapped && 'whitespace-pre-wrap [overflow-wrap:anywhere]',
                )}
              >
                {colour && isCode[kind] ? (
                  <>
                    {text.charAt(0)}
                    {colour(text.slice(1))}
                  </>
                ) : (
                  text
                )}
              </span>
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
    </>
  )
}

/** Not part of copied text: the number is the content of a pseudo-element. */
function LineNumber({ value, digits }: { value: number | null; digits: number }) {
  return (
    <span
      aria-hidden
      data-line={value ?? ''}
      style={{ width: `${digits + 1}ch` }}
      className="shrink-0 select-none text-right text-muted before:content-[attr(data-line)]"
    />
  )
}

const linesPerPage = 500

const scroller =
  'max-h-[60vh] overflow-auto font-mono text-xs leading-5 [font-variant-ligatures:none] text-ink -outline-offset-2'

const isCode: Readonly<Record<DiffLine['kind'], boolean>> = {
  ...{ added: true, removed: true, same: true },
  ...{ place: false, note: false },
}

/** The sign before each line repeats the meaning of its colour. */
const looks: Readonly<Record<DiffLine['kind'], string>> = {
  added: 'bg-success-soft text-ink',
  removed: 'bg-danger-soft text-ink',
  same: 'text-muted',
  place: 'bg-hover text-muted',
  note: 'text-muted italic',
}
