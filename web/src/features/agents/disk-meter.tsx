import type { DiskUsage } from '@roost/contracts/agents/disk'
import { formatBytes } from '../../lib/format.ts'
import { Meter } from '../../ui/progress.tsx'

/** Used space of the quota, as a bar where there is a quota. */
export function DiskMeter({ disk }: { disk: DiskUsage }) {
  const { used_bytes, quota_bytes } = disk
  if (used_bytes === null) return <p className="text-muted text-sm">Not measured yet.</p>
  const used = formatBytes(used_bytes)
  if (quota_bytes === 0) return <p className="text-muted text-sm">{used} used, no quota</p>
  return (
    <Meter
      label="Disk used"
      value={used_bytes}
      max={quota_bytes}
      text={`${used} of ${formatBytes(quota_bytes)}`}
      dangerAt={1}
    />
  )
}
