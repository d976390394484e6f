import type { CanvasSummary } from '@roost/contracts/conversations/canvas'
import type { RosterAgent } from '@roost/contracts/conversations/workspace'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { LayoutPanelTop, Pin } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton, SkeletonList } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { CanvasSheet } from './canvas-sheet.tsx'
import { nameOf } from './names.ts'
import { rosterCanvasesQuery, rosterCanvasQuery } from './queries.ts'

/** The canvases that an agent shows in the Workspace; each opens over the conversation. */
export function RosterCanvases({ agent: { name, can_manage_canvases } }: { agent: RosterAgent }) {
  const canvases = useQuery(rosterCanvasesQuery(useApi(), name))
  const [open, setOpen] = useState<CanvasSummary | null>(null)
  if (canvases.error && !canvases.data) {
    return (
      <ErrorState
        title="Could not load the canvases"
        error={canvases.error}
        onRetry={() => void canvases.refetch()}
      />
    )
  }
  if (!canvases.data) return <SkeletonList rows={3} label="Loading canvases" />
  if (canvases.data.length === 0) {
    return (
      <EmptyState
        icon={<LayoutPanelTop aria-hidden />}
        title="No canvases yet"
        description="The agent can maintain pages for you. Ask for one in the conversation."
      />
    )
  }
  return (
    <>
      <ul aria-label="Canvases" className="-mx-2 flex flex-col gap-px">
        {canvases.data.map((canvas) => (
          <li key={canvas.canvas_id}>
            <button
              type="button"
              onClick={() => setOpen(canvas)}
              className="block w-full rounded-md px-2 py-1.5 text-left hover:bg-hover"
            >
              <span className="flex items-center gap-1.5 text-sm">
                <span className="min-w-0 truncate">{nameOf(canvas)}</span>
                {canvas.pinned && <Pin aria-label="pinned" className="size-3 shrink-0 text-muted" />}
              </span>
              <RelativeTime at={canvas.updated_at} className="text-muted text-xs" />
            </button>
          </li>
        ))}
      </ul>
      {can_manage_canvases && (
        <Link
          to="/agents/$name"
          params={{ name }}
          search={{ tab: 'canvas' }}
          className="mt-3 inline-block text-accent text-sm hover:underline"
        >
          Manage canvases
        </Link>
      )}
      {open && (
        <Dialog open onOpenChange={() => setOpen(null)} title={nameOf(open)} size="xl">
          <Open canvas={open} />
        </Dialog>
      )}
    </>
  )
}

function Open({ canvas: { agent_name, canvas_id } }: { canvas: CanvasSummary }) {
  const canvas = useQuery(rosterCanvasQuery(useApi(), agent_name, canvas_id))
  if (canvas.data) return <CanvasSheet canvas={canvas.data} Heading="h3" filesOf={null} />
  if (!canvas.error) return <Skeleton className="h-72 w-full" />
  return (
    <ErrorState
      title="Could not load the canvas"
      error={canvas.error}
      onRetry={() => void canvas.refetch()}
    />
  )
}
