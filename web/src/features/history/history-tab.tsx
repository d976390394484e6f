import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { HistoryRecord } from '@roost/contracts/agents/workspace-history'
import { useInfiniteQuery } from '@tanstack/react-query'
import { History, Pin } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { FormerWorkspaces } from './former-workspaces.tsx'
import { HistorySettingsForm } from './history-settings.tsx'
import { OpenRestore } from './open-restore.tsx'
import { historyQuery } from './queries.ts'
import { RecordView } from './record-view.tsx'
import { useIsOwner } from './use-is-owner.ts'
import { countsText, recordReasonWords } from './words.ts'

/** The records of an agent's workspace, and their settings. */
export function HistoryTab({ agent }: { agent: AgentDetails }) {
  const records = useInfiniteQuery(historyQuery(useApi(), agent.name))
  const isOwner = useIsOwner(agent.name)
  const [selected, setSelected] = useState<string | null>(null)
  const all = records.data?.pages.flatMap((page) => page.records) ?? []
  const shown = all.find(({ id }) => id === selected) ?? all[0]
  if (records.error && !records.data) {
    const retry = () => void records.refetch()
    return <ErrorState title="Could not load the history" error={records.error} onRetry={retry} />
  }
  if (!records.data) return <SkeletonList rows={5} label="Loading the history" />
  return (
    <div className="flex min-w-0 flex-col gap-8">
      {isOwner && <OpenRestore agentName={agent.name} />}
      {shown ? (
        <div className="grid min-w-0 gap-6 lg:grid-cols-[minmax(0,18rem)_minmax(0,1fr)]">
          <section aria-labelledby="history-records" className="flex min-w-0 flex-col gap-2">
            <h2 id="history-records" className="font-semibold text-sm">
              Records
            </h2>
            <ul className="max-h-[32rem] divide-y divide-line overflow-y-auto rounded-lg border border-line bg-surface">
              {all.map((each) => (
                <Row
                  key={each.id}
                  record={each}
                  isSelected={each.id === shown.id}
                  onSelect={() => setSelected(each.id)}
                />
              ))}
            </ul>
            {records.hasNextPage && (
              <Button
                size="sm"
                pending={records.isFetchingNextPage}
                onClick={() => void records.fetchNextPage()}
              >
                Show older records
              </Button>
            )}
          </section>
          <RecordView key={shown.id} agent={agent} record={shown} />
        </div>
      ) : (
        <EmptyState
          icon={<History aria-hidden />}
          title="No records yet"
          description="The workspace is recorded before and after each run that may change files."
        />
      )}
      {(agent.is_owner || agent.can_delete) && <FormerWorkspaces agent={agent} />}
      <HistorySettingsForm agent={agent} />
    </div>
  )
}

type RowProps = { record: HistoryRecord; isSelected: boolean; onSelect: () => void }

function Row({ record, isSelected, onSelect }: RowProps) {
  const { number, reason, created_at, pinned } = record
  const counts = countsText({ ...record, attributes: 0 })
  return (
    <li>
      <button
        type="button"
        aria-current={isSelected || undefined}
        onClick={onSelect}
        className={cx(
          'flex w-full min-w-0 flex-col gap-0.5 px-3 py-2 text-left text-sm -outline-offset-2 hover:bg-hover',
          isSelected && 'bg-hover font-medium',
        )}
      >
        <span className="flex min-w-0 items-center gap-2">
          <span data-numeric className="text-muted">
            {number}
          </span>
          <span className="min-w-0 flex-1 truncate">{recordReasonWords[reason]}</span>
          {pinned && <Badge icon={<Pin aria-hidden />}>Pinned</Badge>}
        </span>
        <span className="flex flex-wrap gap-x-2 text-muted text-xs">
          <RelativeTime at={created_at} />
          {counts !== '' && <span>{counts}</span>}
        </span>
      </button>
    </li>
  )
}
