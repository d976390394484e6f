import type { Payment } from '@roost/contracts/conversations/paid'
import { paidNetwork } from '@roost/contracts/conversations/paid-networks'
import { useQuery } from '@tanstack/react-query'
import { Coins, RefreshCw } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { amountText, shortened } from './amount.ts'
import { paymentsQuery } from './queries.ts'

export function PaymentList({ name }: { name: string }) {
  const api = useApi()
  const payments = useQuery(paymentsQuery(api, name))
  if (!payments.data) {
    if (!payments.error) return <Skeleton className="h-28" />
    return (
      <ErrorState
        title="Could not load the payments"
        error={payments.error}
        onRetry={() => void payments.refetch()}
        className="w-full max-w-none rounded-lg border border-line bg-surface"
      />
    )
  }
  if (payments.data.length === 0) {
    return (
      <EmptyState
        icon={<Coins aria-hidden />}
        title="No payments yet"
        description="Enable paid chat and share the address above."
        className="w-full max-w-none rounded-lg border border-line bg-surface"
      />
    )
  }
  return (
    <>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface" aria-label="Payments">
        {payments.data.map((payment) => (
          <PaymentRow key={payment.id} payment={payment} />
        ))}
      </ul>
      <div>
        <Button
          size="sm"
          icon={<RefreshCw aria-hidden />}
          pending={payments.isFetching}
          onClick={() => void payments.refetch()}
        >
          Refresh
        </Button>
      </div>
    </>
  )
}

function PaymentRow({ payment }: { payment: Payment }) {
  const { label, tone } = words[payment.action]
  const { payer, transaction, error } = payment
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2.5 text-sm">
      <Badge tone={tone}>{label}</Badge>
      <span className="font-medium tabular-nums">{amountText(payment.amount, payment.network)}</span>
      <span className="min-w-0 flex-1 basis-40 truncate text-muted text-xs">
        {payer ? (
          <>
            from{' '}
            <code title={payer} className="font-mono">
              {shortened(payer)}
            </code>
          </>
        ) : (
          'from an unknown payer'
        )}
        {` · ${paidNetwork(payment.network)?.label ?? payment.network}`}
      </span>
      {transaction && <CopyButton text={transaction} label={`Copy transaction ${shortened(transaction)}`} />}
      <span className="text-muted text-xs">
        <RelativeTime at={payment.created_at} />
      </span>
      {error && <p className="w-full break-words text-muted text-xs">{error}</p>}
    </li>
  )
}

const words: Record<Payment['action'], { label: string; tone: Tone }> = {
  verify: { label: 'verified', tone: 'neutral' },
  settle: { label: 'settled', tone: 'success' },
  settle_failed: { label: 'settlement failed', tone: 'danger' },
  reject: { label: 'rejected', tone: 'warning' },
}
