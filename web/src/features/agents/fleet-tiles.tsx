import { Link } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { formatPercent, plural } from '../../lib/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Cost } from '../../ui/cost.tsx'
import { LongList } from '../../ui/long-list.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { StopIcon } from '../../ui/stop-icon.tsx'
import { Switch } from '../../ui/switch.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useAgentPower, useAutonomy } from './actions.ts'
import { AgentPicture } from './agent-picture.tsx'
import { AgentStatus } from './agent-status.tsx'
import type { FleetRow } from './fleet-rows.ts'
import { NoMatch } from './no-agents.tsx'
import { RunSparkline } from './run-sparkline.tsx'
import { useFleetFilter } from './use-fleet-filter.ts'

const grid = 'grid grid-cols-1 gap-3 sm:grid-cols-2 xl:grid-cols-3'

export function FleetTiles({ rows, isLoading }: { rows: FleetRow[]; isLoading: boolean }) {
  const { clear } = useFleetFilter()
  if (isLoading) {
    return (
      <div className={grid} role="status" aria-label="Loading agents">
        {['one', 'two', 'three'].map((tile) => (
          <Skeleton key={tile} className="h-48 rounded-lg" />
        ))}
      </div>
    )
  }
  if (rows.length === 0) return <NoMatch onClear={clear} />
  return (
    <LongList items={rows} className={grid}>
      {(row) => <Tile key={row.name} row={row} />}
    </LongList>
  )
}

function Tile({ row }: { row: FleetRow }) {
  return (
    // Skips layout for tiles out of view, so that hundreds scroll smoothly.
    <li className="flex min-w-0 flex-col rounded-lg border border-line bg-surface transition-colors [contain-intrinsic-size:auto_13rem] [content-visibility:auto] hover:border-line-strong">
      <div className="flex min-w-0 items-start gap-3 px-4 pt-4">
        <AgentPicture name={row.name} />
        <div className="min-w-0 flex-1">
          <Link
            to="/agents/$name"
            params={{ name: row.name }}
            className="block truncate font-semibold hover:underline"
            title={row.title}
          >
            {row.title}
          </Link>
          <p className="truncate text-muted text-xs">
            {row.label ? `${row.name} · ` : ''}
            {row.runtime}
            {row.runtime_model ? ` · ${row.runtime_model}` : ''}
          </p>
        </div>
        <span className="text-sm">
          <AgentStatus status={row.status} busy={row.running > 0} />
        </span>
      </div>
      {row.is_system && row.lastRunAt === null ? (
        <p className="px-4 py-3 text-muted text-sm">
          The platform’s own agent. It may call every agent, so ask it to coordinate them. It does nothing
          until somebody starts it and gives it a task.
        </p>
      ) : (
        <TileFigures row={row} />
      )}
      {row.is_system ? null : <TileActions row={row} />}
    </li>
  )
}

function TileFigures({ row }: { row: FleetRow }) {
  return (
    <div className="flex flex-1 flex-col gap-2 px-4 py-3">
      <dl className="grid grid-cols-4 gap-2 text-sm tabular-nums [&_dt]:text-faint [&_dt]:text-xs">
        <div>
          <dt>CPU</dt>
          <dd>{row.cpuPercent === null ? '–' : formatPercent(row.cpuPercent / 100)}</dd>
        </div>
        <div>
          <dt>Memory</dt>
          <dd>{row.memoryMb === null ? '–' : `${Math.round(row.memoryMb)} MB`}</dd>
        </div>
        <div>
          <dt>Success</dt>
          <dd>{row.successRate === null ? '–' : formatPercent(row.successRate)}</dd>
        </div>
        <div>
          <dt>24 h</dt>
          <dd>
            <Cost usd={row.cost} isEstimated={row.isCostEstimated} />
          </dd>
        </div>
      </dl>
      <RunSparkline name={row.name} isIdle={row.runs === 0} />
      <p className="text-muted text-xs">
        {row.running > 0 || row.queued > 0
          ? `${row.running} active, ${row.queued} queued`
          : row.lastRunAt
            ? `${plural(row.runs, 'run')} in 24 h, last `
            : 'No runs yet'}
        {row.running === 0 && row.queued === 0 && row.lastRunAt ? <RelativeTime at={row.lastRunAt} /> : null}
      </p>
      {row.tags.length > 0 ? (
        <div className="flex flex-wrap gap-1">
          {row.tags.slice(0, 4).map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
          {row.tags.length > 4 ? <Badge>+{row.tags.length - 4}</Badge> : null}
        </div>
      ) : null}
    </div>
  )
}

function TileActions({ row }: { row: FleetRow }) {
  const power = useAgentPower(row.name)
  const autonomy = useAutonomy(row.name)
  const isUp = row.status === 'running'
  return (
    <div className="flex items-center gap-3 border-t border-line px-4 py-2">
      {row.may_edit ? (
        <span className="flex items-center gap-2 text-muted text-xs">
          <Switch
            checked={row.autonomy_enabled}
            onCheckedChange={(isOn) => autonomy.mutate(isOn)}
            label={`Autonomy of ${row.title}`}
          />
          Autonomy
        </span>
      ) : null}
      <span className="flex-1" />
      <Button
        size="sm"
        variant="ghost"
        icon={isUp ? <StopIcon /> : <Play />}
        pending={power.pending !== null}
        onClick={isUp ? power.stop : power.start}
        aria-label={`${isUp ? 'Stop' : 'Start'} ${row.title}`}
      >
        {isUp ? 'Stop' : 'Start'}
      </Button>
      {isUp ? (
        <Link
          to="/agents/$name"
          params={{ name: row.name }}
          search={{ tab: 'chat' }}
          className="inline-flex h-7 items-center rounded-md px-2 font-medium text-accent text-xs hover:bg-hover"
          aria-label={`Chat with ${row.title}`}
        >
          Chat
        </Link>
      ) : null}
    </div>
  )
}
