import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { LayoutPanelTop } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../../shell/app-context.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { Select } from '../../../ui/select.tsx'
import { SkeletonList } from '../../../ui/skeleton.tsx'
import { CanvasView } from '../../canvas/canvas-view.tsx'
import { nameOf } from '../../canvas/names.ts'
import { canvasesQuery } from '../../canvas/queries.ts'
import { useCanvasActions } from '../../canvas/use-canvas-actions.ts'

/** The canvases of the agent, one at a time. The first one is the default. */
export function CanvasPart({ agent }: { agent: AgentDetails }) {
  const { name } = agent
  const list = useQuery(canvasesQuery(useApi(), name))
  const actions = useCanvasActions(name)
  const [chosen, setChosen] = useState<string | null>(null)
  const shown = (list.data ?? []).filter(({ canvas_id }) => !actions.pending.has(canvas_id))
  const open = shown.find(({ canvas_id }) => canvas_id === chosen) ?? shown[0]
  if (!list.data) {
    if (!list.error) return <SkeletonList rows={4} label="Loading canvases" />
    return (
      <ErrorState
        title="Could not load the canvases"
        error={list.error}
        onRetry={() => void list.refetch()}
      />
    )
  }
  if (!open) {
    return (
      <EmptyState
        icon={<LayoutPanelTop aria-hidden />}
        title="No canvases yet"
        description="Ask the agent for one in this conversation."
      />
    )
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4">
      {shown.length > 1 && (
        <Select
          label="Shown canvas"
          value={open.canvas_id}
          onValueChange={setChosen}
          options={shown.map((canvas) => ({ value: canvas.canvas_id, label: nameOf(canvas) }))}
        />
      )}
      <CanvasView
        key={open.canvas_id}
        summary={open}
        isOwner={agent.is_owner || agent.can_delete}
        actions={actions}
      />
    </div>
  )
}
