import type { Subscription, SubscriptionUsage } from '@roost/contracts/runs/provider-subscriptions'
import { useQuery } from '@tanstack/react-query'
import { Ellipsis, KeyRound, Trash2 } from 'lucide-react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { Cost } from '../../ui/cost.tsx'
import { Menu } from '../../ui/menu.tsx'
import { subscriptionUsageQuery } from './queries.ts'
import { kindOf, listed } from './words.ts'

type RowProps = { row: Subscription; onReplace(): void; onDelete(): void }

export function SubscriptionRow({ row, onReplace, onDelete }: RowProps) {
  const usage = useQuery(subscriptionUsageQuery(useApi(), row.id))
  return (
    <li className="flex min-w-0 items-start gap-3 py-2 pr-1.5 pl-4">
      <div className="min-w-0 flex-1">
        <p className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
          <span className="min-w-0 break-words font-medium">{row.name}</span>
          <span className="text-muted text-xs">{kindOf(row)}</span>
          {usage.data?.rate_limited_now && <Badge tone="warning">rate limited</Badge>}
        </p>
        <p className="break-words text-muted text-xs">
          {row.agents.length === 0 ? 'not used' : `used by ${listed(row.agents)}`}
        </p>
        {usage.data && <Usage usage={usage.data} />}
      </div>
      <Menu
        trigger={<IconButton size="sm" label={`Actions for ${row.name}`} icon={<Ellipsis aria-hidden />} />}
        items={[
          { label: 'Replace token…', icon: <KeyRound aria-hidden />, onSelect: onReplace },
          { label: 'Delete…', icon: <Trash2 aria-hidden />, danger: true, onSelect: onDelete },
        ]}
      />
    </li>
  )
}

function Usage({ usage }: { usage: SubscriptionUsage }) {
  const { window_5h, window_7d, failure_events_24h } = usage
  return (
    <p className="mt-0.5 flex flex-wrap gap-x-4 text-muted text-xs">
      <Spent label="5 h" window={window_5h} />
      <Spent label="7 days" window={window_7d} />
      {failure_events_24h > 0 && (
        <span data-numeric>{plural(failure_events_24h, 'request')} limited or refused in 24 h</span>
      )}
    </p>
  )
}

function Spent({ label, window }: { label: string; window: SubscriptionUsage['window_5h'] }) {
  const tokens = (window.input_tokens + window.output_tokens).toLocaleString('en-US')
  return (
    <span title={`${tokens} tokens`}>
      {label}: <span data-numeric>{plural(window.message_count, 'request')}</span>,{' '}
      <Cost usd={window.cost_usd} isEstimated={window.cost_estimated} />
    </span>
  )
}
