import { maxLinesBytes } from '@roost/contracts/link/messages'
import type { Clock } from '../kit/clock.ts'
import { faultText, type Log } from '../kit/log.ts'
import { type Link, LinkDown } from '../link/link.ts'
import type { RunSpool } from './run-spool.ts'

/** Brings what is spooled to the platform, in order, one message of a run at a time. */
export type Delivery = {
  /** Something of this run is to be sent: lines, or its result once those are committed. */
  kick(run: RunSpool): void
  started(run: RunSpool, pid: number): void
}

export type DeliveryDeps = {
  link: Pick<Link, 'call' | 'isUp'>
  clock: Clock
  log: Log
  /** The platform gave the run to somebody else, or ended it: stop it and forget it. */
  onStale(run: RunSpool): void
}

const retryMs = 1000
const longestRetryMs = 30_000

export function createDelivery(deps: DeliveryDeps): Delivery {
  const { link, clock, log } = deps
  const busy = new Set<RunSpool>()
  /** Kicked while busy: looked at once more before the pump rests. */
  const wanted = new Set<RunSpool>()
  const resting = new Set<RunSpool>()
  const delays = new WeakMap<RunSpool, number>()

  /** One round trip; true when there may be more to do at once. */
  async function step(run: RunSpool): Promise<boolean> {
    const about = { execution_id: run.executionId, claim_token: run.claimToken }
    if (run.acked() < run.lastLine()) {
      const { from, lines } = run.read(run.acked() + 1, maxLinesBytes)
      const answer = await link.call('lines', { ...about, from, lines })
      if ('stale' in answer) return forget(run)
      if (answer.acked < from) throw new Error(`line ${from} was not taken (acknowledged ${answer.acked})`)
      run.ack(answer.acked)
      return true
    }
    const result = run.result()
    if (!result) return false
    const { t: _, ...body } = result
    const answer = await link.call('result', body)
    if (!answer.accepted) log.info('result not counted', { ...about, reason: answer.reason })
    run.remove()
    return false
  }

  function forget(run: RunSpool): false {
    run.remove()
    deps.onStale(run)
    return false
  }

  async function pump(run: RunSpool) {
    wanted.add(run)
    if (busy.has(run) || resting.has(run)) return
    busy.add(run)
    try {
      while (wanted.delete(run)) {
        while (link.isUp() && !run.isRemoved() && (await step(run))) delays.delete(run)
      }
    } catch (fault) {
      if (!(fault instanceof LinkDown)) retryLater(run, fault)
    } finally {
      busy.delete(run)
    }
  }

  /** The platform is there and could not take it: its database may be busy. It is asked again, less and less often. */
  function retryLater(run: RunSpool, fault: unknown) {
    const delay = Math.min(longestRetryMs, (delays.get(run) ?? retryMs / 2) * 2)
    delays.set(run, delay)
    log.warn('delivery refused', {
      execution_id: run.executionId,
      reason: faultText(fault),
      retry_ms: delay,
    })
    resting.add(run)
    clock.after(delay, () => {
      resting.delete(run)
      void pump(run)
    })
  }

  return {
    kick: (run) => void pump(run),
    started(run, pid) {
      const request = { execution_id: run.executionId, claim_token: run.claimToken, pid }
      link.call('started', request).then(
        (answer) => {
          if ('stale' in answer) forget(run)
        },
        // With the link away, the next hello says that the run was spawned.
        () => {},
      )
    },
  }
}
