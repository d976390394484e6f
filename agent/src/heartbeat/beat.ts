import { type Beat, type BeatAnswer, beatSeconds } from '@roost/contracts/link/messages'
import type { Clock } from '../kit/clock.ts'
import { faultText, type Log } from '../kit/log.ts'
import { type Link, LinkDown } from '../link/link.ts'
import type { DiskMeter } from './disk.ts'
import type { UseMeter } from './use.ts'

export type BeatDeps = {
  link: Pick<Link, 'call' | 'isUp'>
  clock: Clock
  log: Log
  memoryMb(): number
  activities(): NonNullable<Beat['executions']>
  active(): number
  disk: Pick<DiskMeter, 'unsent' | 'sent'>
  answered(answer: BeatAnswer): void
  use: UseMeter
}

/**
 * Sends a heartbeat every five seconds, which renews the leases of the listed runs. A heartbeat without an
 * answer closes the link.
 */
export function startBeats(deps: BeatDeps): () => void {
  const { link, clock } = deps
  const startedAt = clock.now()
  let cancel = next()

  function next() {
    return clock.after(beatSeconds * 1000, () => {
      beat()
      cancel = next()
    })
  }

  function beat() {
    if (!link.isUp()) return
    const disk_bytes = deps.disk.unsent()
    const use = deps.use.read()
    const body = {
      memory_mb: deps.memoryMb(),
      active_executions: deps.active(),
      uptime_s: Math.round((clock.now() - startedAt) / 1000),
      executions: deps.activities(),
      ...(disk_bytes === null ? {} : { disk_bytes }),
      ...(use === null ? {} : { use }),
    }
    const onAnswer = (answer: BeatAnswer) => {
      if (disk_bytes !== null) deps.disk.sent(disk_bytes)
      deps.answered(answer)
    }
    link.call('beat', body).then(onAnswer, (fault: unknown) => {
      if (!(fault instanceof LinkDown)) deps.log.warn('beat refused', { reason: faultText(fault) })
    })
  }

  return () => cancel()
}
