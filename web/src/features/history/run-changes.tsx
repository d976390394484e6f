import type { RunChanges as Changes } from '@roost/contracts/agents/workspace-history'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { Pager } from '../../ui/pager.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { ForkButton } from '../agents/fork-button.tsx'
import { ChangeList } from './change-list.tsx'
import { changesPerPage, runChangesQuery } from './queries.ts'
import { RestoreButton } from './restore-button.tsx'
import { useIsOwner } from './use-is-owner.ts'
import { countsText, withoutChanges } from './words.ts'

/** What a run changed in the workspace. */
export function RunChanges({ id }: { id: string }) {
  const [page, setPage] = useState(1)
  const { data, error, refetch } = useQuery(runChangesQuery(useApi(), id, (page - 1) * changesPerPage))
  return (
    <section aria-labelledby="run-changes" className="flex min-w-0 flex-col gap-2">
      <h2 id="run-changes" className="font-semibold text-sm">
        Workspace changes
      </h2>
      {error && !data && (
        <ErrorState title="Could not load the changes" error={error} onRetry={() => void refetch()} />
      )}
      {!error && !data && <SkeletonList rows={2} label="Loading the changes" />}
      {data && <Found found={data} />}
      {data && data.total > changesPerPage && (
        <Pager
          page={page}
          pageSize={changesPerPage}
          total={data.total}
          onPageChange={setPage}
          noun="change"
          before="Previous"
          after="Next"
        />
      )}
    </section>
  )
}

function Found({ found }: { found: Changes }) {
  const isOwner = useIsOwner(found.agent_name)
  const before = isOwner ? ({ run: found.execution_id, side: 'before' } as const) : undefined
  const note = withoutChanges(found)
  if (note !== null) return <p className="text-muted text-sm">{note}</p>
  const counts = countsText(found.counts)
  const { overlapping_count: others } = found
  return (
    <>
      <p className="text-muted text-sm">{counts === '' ? 'No file changed.' : counts}</p>
      {others > 0 && (
        <p className="text-muted text-xs">
          {plural(others, 'run')} worked at the same time, and the changes are those of all of them:{' '}
          {found.overlapping_runs.map((id, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <Link
                to="/agents/$name/executions/$id"
                params={{ name: found.agent_name, id }}
                className="text-accent underline"
              >
                {id.slice(0, 8)}
              </Link>
            </span>
          ))}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        {before && found.total > 0 && (
          <RestoreButton
            agentName={found.agent_name}
            target={before}
            label="Undo this run"
            title="Restore the workspace to before this run"
          />
        )}
        {(['before', 'after'] as const).map((side) => (
          <ForkButton
            key={side}
            agentName={found.agent_name}
            from={{ run: found.execution_id, side }}
            point={`${side} this run`}
            label={`Fork from ${side}`}
          />
        ))}
      </div>
      <ChangeList
        before={before}
        agentName={found.agent_name}
        of={{ kind: 'run', id: found.execution_id }}
        found={{ ...found, total: Math.min(found.total, found.changes.length) }}
        label="Files changed by the run"
      />
      {found.after && found.after.left_out_count > 0 && (
        <p className="text-muted text-xs">
          {plural(found.after.left_out_count, 'path')} not recorded.{' '}
          <Link
            to="/agents/$name"
            params={{ name: found.agent_name }}
            search={{ tab: 'history' }}
            className="text-accent underline"
          >
            Open the history
          </Link>
        </p>
      )}
    </>
  )
}
