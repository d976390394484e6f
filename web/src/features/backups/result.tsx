import type { BackupResult } from '@roost/contracts/operations/scheduled-backups'
import { formatBytes } from '../../lib/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { RelativeTime } from '../../ui/time.tsx'

export type ResultProps = {
  result: BackupResult | null
  /** Shown before the first attempt. */
  none: string
}

/** Result and age of the last attempt; after a failure also the age of the last success. */
export function Result({ result, none }: ResultProps) {
  if (!result) return <span className="text-muted">{none}</span>
  const { attempted_at, succeeded_at, bytes } = result
  if (result.result === 'success')
    return (
      <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
        <Badge tone="success">succeeded</Badge>
        <RelativeTime at={attempted_at} />
        {bytes ? <span className="text-muted">{formatBytes(bytes)}</span> : null}
      </span>
    )
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      <Badge tone="danger">failed</Badge>
      <RelativeTime at={attempted_at} />
      <span className="text-muted">
        {succeeded_at ? (
          <>
            last success <RelativeTime at={succeeded_at} />
          </>
        ) : (
          'no success yet'
        )}
      </span>
    </span>
  )
}
