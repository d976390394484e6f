import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { GitLastChange } from '@roost/contracts/agents/git'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { diffParts } from '../../ui/diff-lines.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { Section } from '../../ui/section.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { ChangedFile } from './changed-file.tsx'
import { gitLastChangeQuery } from './queries.ts'

/** The changes of the last sync or pull. */
export function LastChangeSection({ agent }: { agent: AgentDetails }) {
  const isRunning = agent.status === 'running'
  const change = useQuery({ ...gitLastChangeQuery(useApi(), agent.name), enabled: isRunning })
  return (
    <Section title="Last sync" description="Files changed by the last sync or pull with changes.">
      {!isRunning ? (
        <p className="text-muted text-sm">Start the agent to view the last sync.</p>
      ) : change.data ? (
        <Change change={change.data} />
      ) : change.error ? (
        <ErrorState
          title="Could not read the last change"
          error={change.error}
          onRetry={() => void change.refetch()}
          className="w-full max-w-none rounded-lg border border-line bg-surface"
        />
      ) : (
        <SkeletonList rows={3} label="Loading last change" />
      )}
    </Section>
  )
}

function Change({ change }: { change: GitLastChange }) {
  const { files, total_files, hidden_files, reason } = change
  const parts = useMemo(() => diffParts(change.diff), [change.diff])
  const unnamed = total_files - files.length
  return (
    <>
      <Moved change={change} />
      {reason !== null && <p className="text-muted text-sm">{reason}</p>}
      {files.length > 0 && (
        <ul
          aria-label="Files of the last sync"
          className="max-h-[80vh] divide-y divide-line overflow-y-auto rounded-lg border border-line bg-surface text-sm"
        >
          {files.map((file, index) => (
            <ChangedFile
              key={`${change.to_sha} ${file.path}`}
              file={file}
              part={parts[index] ?? null}
              isCut={change.truncated && index === parts.length - 1}
            />
          ))}
        </ul>
      )}
      {unnamed > 0 && <p className="text-muted text-sm">{plural(unnamed, 'more file')} changed.</p>}
      {hidden_files > 0 && (
        <p className="text-muted text-sm">
          {plural(hidden_files, 'file')} with credentials changed as well. The content is not shown.
        </p>
      )}
    </>
  )
}

/** Direction, time and commits. */
function Moved({ change: { direction, from_sha, to_sha, at } }: { change: GitLastChange }) {
  if (direction === null || from_sha === null || to_sha === null) return null
  return (
    <p className="flex flex-wrap items-center gap-x-2 text-sm">
      <span className="font-medium">{direction === 'push' ? 'Pushed' : 'Pulled'}</span>
      {at && <RelativeTime at={at} className="text-muted" />}
      <code className="text-muted text-xs">
        {from_sha.slice(0, 7)} → {to_sha.slice(0, 7)}
      </code>
    </p>
  )
}
