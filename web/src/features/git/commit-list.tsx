import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Section } from '../../ui/section.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { gitLogQuery, maxCommits } from './queries.ts'

/** The newest commits of the workspace. */
export function CommitList({ agent }: { agent: AgentDetails }) {
  const isRunning = agent.status === 'running'
  const log = useQuery({ ...gitLogQuery(useApi(), agent.name), enabled: isRunning })
  const firstLine = (text: string) => text.split('\n', 1)[0] ?? ''
  return (
    <Section title="Commits" description={`The newest ${maxCommits} commits of the workspace.`}>
      {!isRunning ? (
        <p className="text-muted text-sm">Start the agent to view its commits.</p>
      ) : log.data ? (
        <ol
          aria-label="Commits"
          className="max-h-96 divide-y divide-line overflow-y-auto rounded-lg border border-line bg-surface text-sm"
        >
          {log.data.map(({ sha, short_sha, message, author, date }) => (
            <li key={sha} className="flex min-w-0 items-center gap-2 py-1.5 pr-2 pl-4">
              <div className="min-w-0 flex-1">
                <p className="truncate" title={message}>
                  {firstLine(message)}
                </p>
                <p className="truncate text-muted text-xs">
                  <code>{short_sha}</code> · {author} · <RelativeTime at={date} />
                </p>
              </div>
              <CopyButton text={sha} label={`Copy commit ${short_sha}`} />
            </li>
          ))}
          {log.data.length === 0 && <li className="px-4 py-6 text-center text-muted">No commits yet.</li>}
        </ol>
      ) : log.error ? (
        <ErrorState
          title="Could not read the commits"
          error={log.error}
          onRetry={() => void log.refetch()}
          className="w-full max-w-none rounded-lg border border-line bg-surface"
        />
      ) : (
        <SkeletonList rows={3} label="Loading commits" />
      )}
    </Section>
  )
}
