import type { CanvasSummary } from '@roost/contracts/conversations/canvas'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Link as LinkIcon, Pin, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { CanvasSheet } from './canvas-sheet.tsx'
import { nameOf } from './names.ts'
import { canvasQuery } from './queries.ts'
import { ShareDialog } from './share-dialog.tsx'
import type { CanvasActions } from './use-canvas-actions.ts'

type CanvasViewProps = { summary: CanvasSummary; isOwner: boolean; actions: CanvasActions }

/** One canvas with its metadata. */
export function CanvasView({ summary, isOwner, actions }: CanvasViewProps) {
  const { agent_name: name, canvas_id: id } = summary
  const canvas = useQuery(canvasQuery(useApi(), name, id))
  return (
    <div className="min-w-0 flex-1">
      <div className="mb-4 flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h2 className="break-words font-semibold text-lg">{nameOf(summary)}</h2>
          <Facts summary={summary} />
        </div>
        {isOwner && <OwnerActions summary={summary} actions={actions} />}
      </div>
      {canvas.data ? (
        <CanvasSheet canvas={canvas.data} Heading="h3" filesOf={name} />
      ) : canvas.error ? (
        <ErrorState
          title="Could not load the canvas"
          error={canvas.error}
          onRetry={() => void canvas.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <Skeleton className="h-72 w-full" />
      )}
    </div>
  )
}

function Facts({ summary }: { summary: CanvasSummary }) {
  const { agent_name: name, audience, stale, updated_at, updated_by_execution_id: run } = summary
  return (
    <p className="mt-1 flex flex-wrap items-center gap-x-2.5 gap-y-1 text-muted text-sm">
      <span>
        Updated <RelativeTime at={updated_at} />
      </span>
      {stale && <Badge tone="warning">Not updated for 7 days</Badge>}
      {audience === 'roster' && <Badge tone="info">Visible in Workspace</Badge>}
      {run && (
        <Link
          to="/agents/$name/executions/$id"
          params={{ name, id: run }}
          className="text-accent hover:underline"
        >
          Open run
        </Link>
      )}
    </p>
  )
}

function OwnerActions({ summary, actions }: Pick<CanvasViewProps, 'summary' | 'actions'>) {
  const [isSharing, setSharing] = useState(false)
  const { pinned } = summary
  return (
    <div className="flex shrink-0 items-center gap-1">
      <IconButton
        label={pinned ? 'Unpin' : 'Pin'}
        icon={<Pin aria-hidden className={cx(pinned && 'fill-current')} />}
        aria-pressed={pinned}
        onClick={() => actions.pin({ canvas: summary, pinned: !pinned })}
      />
      <IconButton
        label="Delete canvas"
        icon={<Trash2 aria-hidden />}
        onClick={() => actions.remove(summary)}
      />
      <Button icon={<LinkIcon aria-hidden />} onClick={() => setSharing(true)}>
        Share
      </Button>
      {isSharing && <ShareDialog canvas={summary} onClose={() => setSharing(false)} />}
    </div>
  )
}
