import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowLeft, Inbox } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { PageHelp } from '../../shell/page-help.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { Title } from '../../ui/title.tsx'
import { ItemMarks } from '../operator-queue/item-marks.tsx'
import { Asks } from './asks.tsx'
import { asksQuery } from './queries.ts'

/** The questions of agents to this user, open and resolved. */
export function AsksPage() {
  const asks = useQuery(asksQuery(useApi()))
  const over = (asks.data ?? []).filter(({ status }) => status !== 'pending')
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <Title of={['Questions for you', 'Workspace']} />
      <div className="mx-auto flex w-full max-w-2xl flex-col gap-6 px-4 py-4 md:px-6 md:py-8">
        <div className="flex items-center gap-1">
          <Link
            to="/workspace"
            aria-label="Back to your agents"
            className="-ml-2 grid size-8 place-items-center rounded-md text-muted hover:bg-hover md:hidden"
          >
            <ArrowLeft aria-hidden className="size-4" />
          </Link>
          <h1 className="font-semibold text-lg">Questions for you</h1>
          <span className="md:hidden">
            <PageHelp guide="how-to/inbox" topic="Inbox" />
          </span>
        </div>
        {asks.data ? (
          <>
            <Asks isTitled />
            {asks.data.length === over.length && (
              <EmptyState
                icon={<Inbox aria-hidden />}
                title="No questions for you"
                description="Questions of your agents appear here."
              />
            )}
            {over.length > 0 && <Over items={over} />}
          </>
        ) : asks.error ? (
          <ErrorState
            title="Could not load the questions"
            error={asks.error}
            onRetry={() => void asks.refetch()}
          />
        ) : (
          <SkeletonList rows={4} label="Loading questions" />
        )}
      </div>
    </div>
  )
}

function Over({ items }: { items: readonly QueueItem[] }) {
  return (
    <section aria-labelledby="over">
      <h2 id="over" className="mb-2 font-medium text-muted text-sm">
        Resolved
      </h2>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {items.map((item) => (
          <li key={item.id} className="px-3 py-2.5">
            <p className="flex items-baseline justify-between gap-3">
              <span className="min-w-0 text-sm [overflow-wrap:anywhere]">{item.title}</span>
              <RelativeTime
                at={item.responded_at ?? item.created_at}
                className="shrink-0 text-muted text-xs"
              />
            </p>
            {item.response !== null && (
              <p className="mt-0.5 whitespace-pre-wrap text-muted text-sm [overflow-wrap:anywhere]">
                {item.response}
                {item.response_text !== null && ` — ${item.response_text}`}
              </p>
            )}
            <p className="mt-1 flex flex-wrap items-center gap-1.5 text-muted text-xs">
              <ItemMarks item={item} />
              {item.agent_name}
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}
