import type { CanvasSummary } from '@roost/contracts/conversations/canvas'
import { Link } from '@tanstack/react-router'
import { Pin } from 'lucide-react'
import { RelativeTime } from '../../ui/time.tsx'
import { nameOf } from './names.ts'

type CanvasListProps = { name: string; canvases: readonly CanvasSummary[]; selected: string }

/** Links to the canvases of an agent, pinned ones first. */
export function CanvasList({ name, canvases, selected }: CanvasListProps) {
  if (canvases.length === 1) return null
  return (
    <nav aria-label="Canvases" className="max-h-56 shrink-0 overflow-y-auto lg:max-h-none lg:w-52">
      <ul className="flex flex-col gap-px">
        {canvases.map((canvas) => (
          <li key={canvas.canvas_id}>
            <Link
              to="/agents/$name"
              params={{ name }}
              search={{ tab: 'canvas', canvas: canvas.canvas_id }}
              aria-current={canvas.canvas_id === selected ? 'page' : undefined}
              resetScroll={false}
              className="block rounded-md px-2 py-1.5 hover:bg-hover aria-[current=page]:bg-hover"
            >
              <span className="flex items-center gap-1.5 text-sm">
                <span className="min-w-0 truncate">{nameOf(canvas)}</span>
                {canvas.pinned && (
                  <>
                    <Pin aria-hidden className="size-3 shrink-0 text-muted" />
                    <span className="sr-only">pinned</span>
                  </>
                )}
              </span>
              <RelativeTime at={canvas.updated_at} className="text-muted text-xs" />
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
