import type { Subscription } from '@roost/contracts/runs/provider-subscriptions'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Field } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Switch } from '../../ui/switch.tsx'
import { settingQuery } from '../settings/queries.ts'
import { useAutoSwitch, useDeleteSubscription } from './actions.ts'
import { subscriptionsQuery } from './queries.ts'
import { SubscriptionDialog } from './subscription-dialog.tsx'
import { SubscriptionRow } from './subscription-row.tsx'
import { deletionWords } from './words.ts'

/** Credentials of model providers that agents share by name. */
export function SubscriptionsSection() {
  const subscriptions = useQuery(subscriptionsQuery(useApi()))
  const [editing, setEditing] = useState<Subscription | 'new' | null>(null)
  const [deleting, setDeleting] = useState<Subscription | null>(null)
  const remove = useDeleteSubscription(() => setDeleting(null))
  return (
    <Section
      id="subscriptions"
      title="Provider subscriptions"
      description="Provider plans and API keys that agents can share. An agent with a subscription uses it instead of the platform’s key. The token stays in the platform."
      actions={
        <Button icon={<Plus aria-hidden />} onClick={() => setEditing('new')}>
          Add subscription
        </Button>
      }
    >
      {subscriptions.isError && !subscriptions.data ? (
        <ErrorState error={subscriptions.error} onRetry={() => void subscriptions.refetch()} />
      ) : subscriptions.data ? (
        <List rows={subscriptions.data} onReplace={setEditing} onDelete={setDeleting} />
      ) : (
        <Skeleton className="h-16" />
      )}
      <AutoSwitch />
      <SubscriptionDialog editing={editing} onClose={() => setEditing(null)} />
      <ConfirmDialog
        open={deleting !== null}
        onOpenChange={() => setDeleting(null)}
        title={`Delete ${deleting?.name ?? ''}?`}
        description={deletionWords(deleting?.agents ?? [])}
        action="Delete subscription"
        pending={remove.isPending}
        onConfirm={() => deleting && remove.mutate(deleting)}
      />
    </Section>
  )
}

type ListProps = {
  rows: readonly Subscription[]
  onReplace(row: Subscription): void
  onDelete(row: Subscription): void
}

function List({ rows, onReplace, onDelete }: ListProps) {
  if (rows.length === 0) {
    return (
      <p className="text-muted text-sm">
        No subscriptions yet. Add one here, then choose it in the settings of an agent.
      </p>
    )
  }
  return (
    <ul
      aria-label="Provider subscriptions"
      className="divide-y divide-line rounded-lg border border-line bg-surface text-sm"
    >
      {rows.map((row) => (
        <SubscriptionRow
          key={row.id}
          row={row}
          onReplace={() => onReplace(row)}
          onDelete={() => onDelete(row)}
        />
      ))}
    </ul>
  )
}

function AutoSwitch() {
  const { data } = useQuery(settingQuery(useApi(), 'subscription_auto_switch'))
  const change = useAutoSwitch()
  if (!data) return <Skeleton className="h-10" />
  return (
    <Field
      label="Switch automatically at a limit"
      hint="When the provider limits or refuses a subscription, its agents switch to the next one of the same provider, and Roost raises an alert."
      layout="row"
    >
      <Switch checked={data.value === 'true'} onCheckedChange={(isOn) => change.mutate(isOn)} />
    </Field>
  )
}
