// biome-ignore-all lint/a11y/useSemanticElements: absolutely positioned cells cannot be table cells
// biome-ignore-all lint/a11y/useFocusableInteractive: only one checkbox at a time is a tab stop
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useBoxWidth } from '../../ui/use-box-width.ts'
import { edgeId } from './edges.ts'
import { MatrixCell } from './matrix-cell.tsx'
import { type Place, placeAfterKey } from './matrix-keys.ts'

export type MatrixRow = { name: string; mayEdit: boolean }

type MatrixProps = {
  rows: readonly MatrixRow[]
  columns: readonly string[]
  /** By `edgeId`. */
  permitted: ReadonlySet<string>
  onChange: (source: string, target: string, isOn: boolean) => void
}

/** In pixels. */
const cell = 34
const header = 132

/**
 * Callers are rows, called agents are columns. Only visible cells are rendered, which keeps a thousand agents
 * fast.
 */
export function Matrix({ rows, columns, permitted, onChange }: MatrixProps) {
  const outer = useRef<HTMLDivElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const pendingFocus = useRef(false)
  const [active, setActive] = useState<Place>({ row: 0, column: 0 })
  const row = Math.min(active.row, rows.length - 1)
  const column = Math.min(active.column, columns.length - 1)
  const names = useBoxWidth(outer) < 540 ? 124 : 220

  const vertical = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => cell,
    overscan: 6,
    scrollPaddingStart: header,
    rangeExtractor: withIndex(row),
    initialRect: { width: 0, height: 600 },
  })
  const horizontal = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => cell,
    overscan: 6,
    scrollPaddingStart: names,
    rangeExtractor: withIndex(column),
    initialRect: { width: 900, height: 0 },
  })
  const across = horizontal.getVirtualItems()

  useEffect(() => {
    if (!pendingFocus.current) return
    const target = scroller.current?.querySelector<HTMLElement>('[role=checkbox][tabindex="0"]')
    if (!target) return
    pendingFocus.current = false
    target.focus({ preventScroll: true })
  })

  const move = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const next = placeAfterKey(event.key, { row, column }, { rows: rows.length, columns: columns.length })
    if (!next) return
    event.preventDefault()
    pendingFocus.current = true
    setActive(next)
    vertical.scrollToIndex(next.row, { align: 'auto' })
    horizontal.scrollToIndex(next.column, { align: 'auto' })
  }

  return (
    <div ref={outer} className="min-w-0">
      <div
        ref={scroller}
        className="relative max-h-[max(22rem,calc(100dvh-16rem))] w-fit max-w-full overflow-auto overscroll-x-contain rounded-lg border border-line bg-surface"
      >
        <div
          role="grid"
          aria-label="Agent permissions"
          aria-rowcount={rows.length + 1}
          aria-colcount={columns.length + 1}
          onKeyDown={move}
          className="relative"
          style={{
            width: names + horizontal.getTotalSize(),
            height: header + vertical.getTotalSize(),
          }}
        >
          <div
            role="row"
            aria-rowindex={1}
            className="sticky top-0 z-20 bg-surface"
            style={{ height: header }}
          >
            <div
              role="columnheader"
              aria-colindex={1}
              className="sticky left-0 z-10 flex h-full items-end border-r border-b bg-surface px-3 pb-2 text-muted text-xs"
              style={{ width: names }}
            >
              Caller
            </div>
            {across.map((item) => (
              <div
                key={item.key}
                role="columnheader"
                aria-colindex={item.index + 2}
                title={columns[item.index]}
                className="absolute inset-y-0 flex items-end justify-center border-b pb-2"
                style={{ left: names + item.start, width: item.size }}
              >
                <span className="max-h-[7.25rem] rotate-180 truncate text-xs [writing-mode:vertical-rl]">
                  {columns[item.index]}
                </span>
              </div>
            ))}
          </div>
          {vertical.getVirtualItems().map((line) => {
            const source = rows[line.index]
            if (!source) return null
            return (
              <div
                key={source.name}
                role="row"
                aria-rowindex={line.index + 2}
                className="absolute left-0 w-full hover:bg-hover"
                style={{ top: header + line.start, height: line.size }}
              >
                <div
                  role="rowheader"
                  aria-colindex={1}
                  title={source.name}
                  className="sticky left-0 z-10 flex h-full items-center border-r bg-surface px-3 text-sm"
                  style={{ width: names }}
                >
                  <span className="truncate">{source.name}</span>
                </div>
                {across.map((item) => {
                  const target = columns[item.index] ?? ''
                  return (
                    <MatrixCell
                      key={item.key}
                      source={source.name}
                      target={target}
                      index={item.index}
                      left={names + item.start}
                      size={item.size}
                      isOn={permitted.has(edgeId(source.name, target))}
                      mayEdit={source.mayEdit}
                      isActive={line.index === row && item.index === column}
                      onFocus={() => setActive({ row: line.index, column: item.index })}
                      onChange={onChange}
                    />
                  )
                })}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

/** Keeps the active cell in the DOM when it scrolls out of view, so that the focus is not lost. */
function withIndex(index: number) {
  return (range: Range) => {
    const visible = defaultRangeExtractor(range)
    return visible.includes(index) ? visible : [...visible, index].sort((left, right) => left - right)
  }
}
