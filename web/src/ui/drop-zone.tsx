import { FileDown } from 'lucide-react'
import { type DragEvent, type ReactNode, useRef, useState } from 'react'

export type DropZoneProps = {
  /** Shown while files hover, e.g. `Drop files to attach them`. */
  label: string
  /** Null: nothing can be dropped. */
  onFiles: ((files: File[], data: DataTransfer) => Promise<void>) | null
  children: ReactNode
}

/** Accepts files dropped anywhere on it. Offer a button for the same action. */
export function DropZone(props: DropZoneProps) {
  const [isOver, setOver] = useState(false)
  /** `dragenter` of a child fires before `dragleave` of its parent. */
  const depth = useRef(0)
  const step = (by: number) => (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return
    // Otherwise the browser opens the dropped file in place of this page.
    event.preventDefault()
    if (props.onFiles === null) return
    depth.current = by === 0 ? 0 : Math.max(0, depth.current + by)
    setOver(depth.current > 0)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is optional; a button next to it does the same
    <div
      className="relative flex min-h-0 min-w-0 flex-1 flex-col"
      onDragEnter={step(1)}
      onDragLeave={step(-1)}
      onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={(event) => {
        step(0)(event)
        void props.onFiles?.([...event.dataTransfer.files], event.dataTransfer)
      }}
    >
      {props.children}
      {isOver && (
        <div className="pointer-events-none absolute inset-2 z-sticky grid place-items-center rounded-xl border-2 border-dashed border-accent bg-accent-soft/90">
          <p className="flex items-center gap-2 text-sm font-medium text-accent">
            <FileDown aria-hidden className="size-4" />
            {props.label}
          </p>
        </div>
      )}
    </div>
  )
}
