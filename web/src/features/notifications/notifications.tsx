import { notificationPriorities, notificationStatuses } from '@roost/contracts/operations/notifications'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Bell } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Filter, Filters } from '../../ui/filters.tsx'
import { Pager } from '../../ui/pager.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { AgentFilter } from '../agents/agent-filter.tsx'
import { useNotificationActions } from './actions.ts'
import { NotificationRow } from './notification-row.tsx'
import { type NotificationFilter, notificationsQuery, pageSize } from './queries.ts'
import { priorityChoices, statusChoices } from './words.ts'

const route = getRouteApi('/signed-in/inbox')
type Search = ReturnType<typeof route.useSearch>

/** Messages of agents that need no answer. */
export function Notifications() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const filter = filterOf(search)
  const list = useQuery(notificationsQuery(useApi(), filter))
  const { pending, acknowledge, dismiss, dismissAll } = useNotificationActions()
  const change = (next: Partial<Search>) =>
    void navigate({
      search: (now) => ({ ...now, page: undefined, ...next }),
      replace: true,
      resetScroll: false,
    })
  const rows = (list.data?.rows ?? []).filter(({ id }) => !pending.has(id))
  return (
    <section aria-label="Notifications" className="flex min-w-0 flex-col gap-3">
      <CardHeader
        title="Notifications"
        description="Messages from agents. Questions that need an answer are under Waiting."
        actions={
          rows.some(({ status }) => status !== 'dismissed') && (
            <DismissAll
              agent={filter.agent}
              isPending={dismissAll.isPending}
              onConfirm={(done) => dismissAll.mutate(filter.agent, { onSettled: done })}
            />
          )
        }
        className="mb-0"
      />
      <Choices filter={filter} change={change} />
      {list.isError && !list.data ? (
        <ErrorState
          title="Could not load the notifications"
          error={list.error}
          onRetry={() => void list.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : list.isPending ? (
        <SkeletonList rows={5} label="Loading notifications" />
      ) : rows.length === 0 ? (
        <Nothing
          isUsual={filter.status === 'pending' && !filter.priority && !filter.agent}
          onAll={() => change(everything)}
        />
      ) : (
        <>
          <ul
            aria-label="List of notifications"
            className="divide-y divide-line rounded-lg border border-line bg-surface"
          >
            {rows.map((notification) => (
              <NotificationRow
                key={notification.id}
                notification={notification}
                isReading={acknowledge.isPending && acknowledge.variables === notification.id}
                onRead={() => acknowledge.mutate(notification.id)}
                onDismiss={() => dismiss(notification)}
              />
            ))}
          </ul>
          <Pager
            page={filter.page}
            pageSize={pageSize}
            total={list.data.total}
            onPageChange={(page) => change({ page })}
            noun="notification"
          />
        </>
      )}
    </section>
  )
}

const everything = { status: 'all', priority: undefined, agent: undefined }

function filterOf({ status, priority, agent, page = 1 }: Search): NotificationFilter {
  return {
    status: status === 'all' ? 'all' : (notificationStatuses.find((each) => each === status) ?? 'pending'),
    priority: notificationPriorities.find((each) => each === priority),
    agent,
    page,
  }
}

type ChoicesProps = { filter: NotificationFilter; change: (next: Partial<Search>) => void }

function Choices({ filter, change }: ChoicesProps) {
  return (
    <Filters>
      <Filter
        label="Status"
        options={statusChoices}
        value={filter.status}
        usual="pending"
        onChange={(status) => change({ status })}
      />
      <Filter
        label="Priority"
        options={priorityChoices}
        value={filter.priority}
        onChange={(priority) => change({ priority })}
      />
      <AgentFilter value={filter.agent} onChange={(agent) => change({ agent })} />
    </Filters>
  )
}

function Nothing({ isUsual, onAll }: { isUsual: boolean; onAll: () => void }) {
  return (
    <EmptyState
      icon={<Bell aria-hidden />}
      title={isUsual ? 'No new notifications' : 'No matching notifications'}
      description={isUsual ? 'Agents send notifications with their notification tool.' : undefined}
      action={<Button onClick={onAll}>Show all notifications</Button>}
      className="w-full max-w-none rounded-lg border border-line bg-surface"
    />
  )
}

type DismissAllProps = {
  agent: string | undefined
  isPending: boolean
  onConfirm: (done: () => void) => void
}

function DismissAll({ agent, isPending, onConfirm }: DismissAllProps) {
  const [isConfirming, setConfirming] = useState(false)
  return (
    <>
      <Button onClick={() => setConfirming(true)}>Dismiss all…</Button>
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
        title="Dismiss all notifications?"
        description={`Dismisses the notifications of ${agent ?? 'all agents that you have access to'}, for all users. They stay in the list of all notifications.`}
        action="Dismiss all"
        pending={isPending}
        onConfirm={() => onConfirm(() => setConfirming(false))}
      />
    </>
  )
}
