import type { Attempt, AttemptSet } from '@roost/contracts/runs/attempts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { ChangeList } from '../history/change-list.tsx'
import { recordChangesQuery } from '../history/queries.ts'
import { KeepButton } from './keep-button.tsx'
import { checkWord } from './words.ts'

/** Result, check and changed files of one attempt. */
export function AttemptDetail({ set, attempt }: { set: AttemptSet; attempt: Attempt }) {
  const { number, result, error, check, record, execution_id } = attempt
  const word = checkWord(attempt)
  return (
    <section aria-labelledby="attempt" className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 id="attempt" className="min-w-0 flex-1 font-semibold text-base">
          Attempt {number}
        </h2>
        {execution_id !== null && (
          <Link
            to="/agents/$name/executions/$id"
            params={{ name: set.agent_name, id: execution_id }}
            className={buttonClass({ size: 'sm' })}
          >
            Open the run
          </Link>
        )}
        {set.status === 'done' && record !== null && <KeepButton set={set} number={number} />}
      </div>
      {set.attempts.some(({ message }) => message !== attempt.message) && (
        <p className="whitespace-pre-wrap break-words text-muted text-sm">{attempt.message}</p>
      )}
      {error !== null && <Banner tone="danger">{error}</Banner>}
      {result !== null && (
        <div className="flex min-w-0 flex-col gap-2">
          <h3 className="font-medium text-sm">Result</h3>
          <div className="min-w-0 rounded-lg border border-line bg-surface p-3">
            <Markdown text={result} />
          </div>
        </div>
      )}
      {check !== null && word !== null && (
        <div className="flex min-w-0 flex-col gap-2">
          <h3 className="flex items-center gap-2 font-medium text-sm">
            Check <Badge tone={word.tone}>{word.word}</Badge>
          </h3>
          <code className="break-all text-muted text-xs">{set.check?.command}</code>
          {check.output !== '' && (
            <ScrollRegion
              label="Output of the check"
              className="max-h-80 overflow-auto rounded-lg border border-line bg-sunken p-3"
            >
              <pre className="whitespace-pre-wrap break-words text-xs">{check.output}</pre>
            </ScrollRegion>
          )}
          {check.truncated && <p className="text-muted text-xs">Only the end of the output is kept.</p>}
        </div>
      )}
      {record !== null && set.base_record !== null && (
        <Changes name={set.agent_name} record={record} since={set.base_record} />
      )}
      {record === null && attempt.changes !== null && (
        <p className="text-muted text-sm">The files of this attempt were removed with the set.</p>
      )}
    </section>
  )
}

function Changes({ name, record, since }: { name: string; record: string; since: string }) {
  const { data, error, refetch } = useQuery(recordChangesQuery(useApi(), name, record, since))
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <h3 className="font-medium text-sm">Changed files</h3>
      {error && !data && (
        <ErrorState title="Could not load the changes" error={error} onRetry={() => void refetch()} />
      )}
      {!error && !data && <SkeletonList rows={2} label="Loading the changes" />}
      {data && data.total === 0 && <p className="text-muted text-sm">No file changed.</p>}
      {data && (
        <ChangeList
          agentName={name}
          of={{ kind: 'record', name, id: record, since }}
          found={data}
          label="Files changed by the attempt"
        />
      )}
    </div>
  )
}
