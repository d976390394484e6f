import { CircleAlert, CircleCheck, CircleSlash, RotateCw, X } from 'lucide-react'
import { describeFault } from '../../../lib/fault.ts'
import { formatBytes, formatPercent } from '../../../lib/format.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { cx } from '../../../ui/class-names.ts'
import { ProgressBar } from '../../../ui/progress.tsx'
import { ScrollRegion } from '../../../ui/scroll-region.tsx'
import { visibleName } from '../paths.ts'
import { isOpen, type Transfer } from './transfers.ts'
import { useTransferList, useTransfers } from './use-transfers.ts'

/** Rows shown; open and failed transfers come first. */
const maxRows = 50

export type TransferListProps = {
  transfers: readonly Transfer[]
  /** Absent: the list is cleared by its owner. */
  onClear?: () => void
  className?: string
}

/** Files on their way into the workspace, with progress, Cancel and Retry. */
export function TransferList({ transfers, onClear, className }: TransferListProps) {
  const store = useTransfers()
  if (transfers.length === 0) return null
  const open = transfers.filter(isOpen)
  const done = transfers.filter(({ state }) => state === 'done').length
  const failed = transfers.filter(({ state }) => state === 'failed').length
  const rows = transfers.toSorted((a, b) => rank(a) - rank(b)).slice(0, maxRows)
  return (
    <section aria-label="Uploads" className={cx('flex min-w-0 flex-col', className)}>
      <div className="flex min-h-9 flex-wrap items-center gap-x-2 gap-y-1 px-3 py-1">
        <p role="status" className="min-w-0 flex-1 text-xs font-medium text-muted">
          {done} of {transfers.length} uploaded{failed > 0 && `, ${failed} failed`}
        </p>
        {open.length > 1 && (
          <Button
            size="sm"
            variant="ghost"
            onClick={() => {
              for (const { id } of open) store.cancel(id)
            }}
          >
            Cancel all uploads
          </Button>
        )}
        {open.length === 0 && onClear && (
          <Button size="sm" variant="ghost" onClick={onClear}>
            Close uploads
          </Button>
        )}
      </div>
      <ScrollRegion label="List of uploads" className="max-h-48 min-w-0 overflow-y-auto pb-1">
        <ul>
          {rows.map((transfer) => (
            <TransferRow key={transfer.id} transfer={transfer} />
          ))}
          {transfers.length > rows.length && (
            <li className="px-3 py-1 text-xs text-muted">and {transfers.length - rows.length} more</li>
          )}
        </ul>
      </ScrollRegion>
    </section>
  )
}

/** All transfers into the workspace of an agent. */
export function AgentTransfers({ agent, className }: { agent: string; className: string }) {
  const store = useTransfers()
  const transfers = useTransferList().filter((transfer) => transfer.agent === agent)
  return <TransferList transfers={transfers} onClear={() => store.clearEnded(agent)} className={className} />
}

function TransferRow({ transfer }: { transfer: Transfer }) {
  const store = useTransfers()
  const { id, path, size, sent, state } = transfer
  const name = visibleName(path)
  return (
    <li className="flex min-w-0 items-center gap-2 px-3 py-1">
      <div className="min-w-0 flex-1">
        <p className="flex min-w-0 items-baseline gap-2 text-sm">
          <bdi className="min-w-0 truncate text-ink" title={name}>
            {name}
          </bdi>
          <span data-numeric className="ml-auto shrink-0 text-xs text-muted">
            {formatBytes(size)}
          </span>
        </p>
        {isOpen(transfer) && (
          <ProgressBar className="my-1" label={`Upload of ${name}`} value={size === 0 ? null : sent / size} />
        )}
        <Words transfer={transfer} />
      </div>
      {(state === 'failed' || state === 'cancelled') && (
        <IconButton
          size="sm"
          label={`Retry upload of ${name}`}
          icon={<RotateCw aria-hidden />}
          onClick={() => store.retry(id)}
        />
      )}
      {isOpen(transfer) && (
        <IconButton
          size="sm"
          label={`Cancel upload of ${name}`}
          icon={<X aria-hidden />}
          onClick={() => store.cancel(id)}
        />
      )}
    </li>
  )
}

function Words({ transfer }: { transfer: Transfer }) {
  const { state, sent, size } = transfer
  const Icon = { done: CircleCheck, failed: CircleAlert, cancelled: CircleSlash }[state as string]
  return (
    <p
      className={cx(
        'flex min-w-0 items-start gap-1 text-xs',
        state === 'failed' ? 'text-danger' : 'text-muted',
      )}
    >
      {Icon && <Icon aria-hidden className="mt-px size-3.5 shrink-0" />}
      <span className="min-w-0 break-words">{wordsOf(transfer, size === 0 ? 0 : sent / size)}</span>
    </p>
  )
}

function wordsOf({ state, fault }: Transfer, share: number): string {
  switch (state) {
    case 'waiting':
      return 'Waiting'
    case 'sending':
      return formatPercent(share)
    case 'offline':
      return `Connection lost at ${formatPercent(share)}. The upload resumes automatically.`
    case 'done':
      return 'Uploaded'
    case 'cancelled':
      return 'Cancelled'
    case 'failed':
      return `Failed at ${formatPercent(share)}. ${describeFault(fault).sentence}`
  }
}

const order = ['sending', 'offline', 'failed', 'waiting', 'cancelled', 'done'] as const

function rank({ state }: Transfer): number {
  return order.indexOf(state)
}
