import { type KeyboardEvent, type PointerEvent, useRef } from 'react'

export type ResizeHandleProps = {
  label: string
  /** Of the element to the right, in CSS pixels. */
  width: number
  least: number
  most: number
  onWidth: (width: number) => void
}

const step = 32

/** The left edge of its parent, which it makes wider and narrower by pointer and with the arrow keys. */
export function ResizeHandle({ label, width, least, most, onWidth }: ResizeHandleProps) {
  const start = useRef<{ x: number; width: number } | null>(null)
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    // The parent may be narrower than the wanted width.
    const shown = event.currentTarget.parentElement?.offsetWidth ?? width
    start.current = { x: event.clientX, width: shown }
    event.currentTarget.setPointerCapture(event.pointerId)
  }
  const onPointerMove = ({ clientX }: PointerEvent) => {
    if (start.current) onWidth(start.current.width + start.current.x - clientX)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const shown = event.currentTarget.parentElement?.offsetWidth ?? width
    if (event.key === 'ArrowLeft') onWidth(shown + step)
    else if (event.key === 'ArrowRight') onWidth(shown - step)
    else return
    event.preventDefault()
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={least}
      aria-valuemax={most}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        start.current = null
      }}
      onKeyDown={onKeyDown}
      className="absolute inset-y-0 -left-1 z-sticky w-2 cursor-col-resize touch-none hover:bg-accent-soft focus-visible:bg-accent-soft"
    />
  )
}
