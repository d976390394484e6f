import type { RunChanges } from '@roost/contracts/agents/workspace-history'
import { Link } from '@tanstack/react-router'
import { plural } from '../../lib/format.ts'
import { RelativeTime } from '../../ui/time.tsx'
import { ChangeList } from './change-list.tsx'
import { RestoreButton } from './restore-button.tsx'
import { useIsOwner } from './use-is-owner.ts'
import { countsText } from './words.ts'

/** What one turn of a conversation changed, from the records of its run. */
export function TurnChanges({
  found,
  onOpenFile,
}: {
  found: RunChanges
  onOpenFile: (path: string) => void
}) {
  const { execution_id: id, agent_name: name, overlapping_count: others, after } = found
  const isOwner = useIsOwner(name)
  const before = isOwner ? ({ run: id, side: 'before' } as const) : undefined
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <p className="flex flex-wrap gap-x-2 text-muted text-xs">
        <span>{countsText(found.counts)}</span>
        {after && <RelativeTime at={after.created_at} />}
        <Link to="/agents/$name/executions/$id" params={{ name, id }} className="text-accent hover:underline">
          Open run
        </Link>
        {others > 0 && <span>Together with {plural(others, 'run')} at the same time.</span>}
      </p>
      <ChangeList
        before={before}
        agentName={name}
        of={{ kind: 'run', id }}
        found={found}
        label="Recorded changes"
        onOpenFile={onOpenFile}
      />
      {before && found.total > 0 && (
        <RestoreButton
          agentName={name}
          target={before}
          label="Undo this run"
          title="Restore the workspace to before this run"
        />
      )}
    </div>
  )
}
