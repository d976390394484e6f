import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { LayoutPanelTop } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { CardHeader } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { CanvasList } from './canvas-list.tsx'
import { CanvasView } from './canvas-view.tsx'
import { canvasesQuery } from './queries.ts'
import { useCanvasActions } from './use-canvas-actions.ts'

const route = getRouteApi('/signed-in/agents/$name')

/** Pages that the agent maintains. The first one is the default. */
export function CanvasTab({ agent }: { agent: AgentDetails }) {
  const { name } = agent
  const { canvas: requestedId } = route.useSearch()
  const list = useQuery(canvasesQuery(useApi(), name))
  const actions = useCanvasActions(name)
  const isOwner = agent.is_owner || agent.can_delete
  const shown = (list.data ?? []).filter(({ canvas_id }) => !actions.pending.has(canvas_id))
  const open = shown.find(({ canvas_id }) => canvas_id === requestedId) ?? shown[0]
  return (
    <section aria-label="Canvases" className="min-w-0">
      <CardHeader title="Canvases" description="Pages that the agent maintains." />
      {list.data ? (
        open ? (
          <div className="flex min-w-0 flex-col gap-5 lg:flex-row">
            <CanvasList name={name} canvases={shown} selected={open.canvas_id} />
            <CanvasView key={open.canvas_id} summary={open} isOwner={isOwner} actions={actions} />
          </div>
        ) : (
          <EmptyState
            icon={<LayoutPanelTop aria-hidden />}
            title="No canvases yet"
            description="Ask the agent in a chat, for example: “Keep a canvas with the open tickets and update it after each run.”"
          />
        )
      ) : list.error ? (
        <ErrorState
          title="Could not load the canvases"
          error={list.error}
          onRetry={() => void list.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <SkeletonList rows={4} label="Loading canvases" />
      )}
    </section>
  )
}
