import type { Loop } from '../../background/loops.ts'
import { type Clock, secondsLater } from '../../kit/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Audit } from './service.ts'

const daySeconds = 24 * 3600

/** Removes entries older than `days()`. */
export function auditRetention(deps: {
  audit: Pick<Audit, 'sweep'>
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'info'>
  days(): number
}): Loop {
  const { audit, clock, log } = deps
  return {
    name: 'audit-retention',
    everySeconds: 3600,
    async run() {
      const days = deps.days()
      const removed = await audit.sweep(secondsLater(clock.now(), -days * daySeconds))
      if (removed > 0) log.info({ removed, days }, 'audit entries older than their window were removed')
    },
  }
}
