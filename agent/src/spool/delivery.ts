import { maxLinesBytes } from '@roost/contracts/link/messages'
import type { Clock } from '../kit/clock.ts'
import { faultText, type Log } from '../kit/log.ts'
import { type Link, LinkDown } from '../link/link.ts'
import type { RunSpool } from './run-spool.ts'

/** Sends spooled lines and results to the platform in order, one message per run at a time. */
export type Delivery = {
  /** Sends pending lines of the run, or its result once all lines are committed. */
  kick(run: RunSpool): void
  started(run: RunSpool, pid: number): void
  /** Resolves when nothing is being sent: everything is delivered, or the platform does not accept the rest now. */
  settled(): Promise<void>
}

export type DeliveryDeps = {
  link: Pick<Link, 'call' | 'isUp'>
  clock: Clock
  log: Log
  /** The platform ended the run or assigned it to another agent: stop it and drop it. */
  onStale(run: RunSpool): void
}

const retryMs = 1000
const maxRetryMs = 30_000

export function createDelivery(deps: DeliveryDeps): Delivery {
  const { link, clock, log } = deps
  const busy = new Map<RunSpool, Promise<void>>()
  /** Runs kicked while busy: checked again before the pump stops. */
  const kicked = new Set<RunSpool>()
  const backingOff = new Set<RunSpool>()
  const delays = new WeakMap<RunSpool, number>()

  /** Sends one message. Returns true when more may be pending. */
  async function step(run: RunSpool): Promise<boolean> {
    const about = { execution_id: run.executionId, claim_token: run.claimToken }
    if (run.acked() < run.lastLine()) {
      const { from, lines } = run.read(run.acked() + 1, maxLinesBytes)
      const answer = await link.call('lines', { ...about, from, lines })
      if ('stale' in answer) return forget(run)
      if (answer.acked < from) throw new Error(`line ${from} was not accepted (acknowledged ${answer.acked})`)
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

  function kick(run: RunSpool) {
    kicked.add(run)
    if (!busy.has(run) && !backingOff.has(run)) busy.set(run, pump(run))
  }

  async function pump(run: RunSpool) {
    // The caller notes this pump before it may end.
    await Promise.resolve()
    try {
      while (kicked.delete(run)) {
        while (link.isUp() && !run.isRemoved() && (await step(run))) delays.delete(run)
      }
    } catch (fault) {
      if (!(fault instanceof LinkDown)) retryLater(run, fault)
    } finally {
      busy.delete(run)
    }
  }

  /**
   * Retries with growing delays after the platform failed to accept data, for example because its database is
   * busy.
   */
  function retryLater(run: RunSpool, fault: unknown) {
    const delay = Math.min(maxRetryMs, (delays.get(run) ?? retryMs / 2) * 2)
    delays.set(run, delay)
    log.warn('delivery refused', {
      execution_id: run.executionId,
      reason: faultText(fault),
      retry_ms: delay,
    })
    backingOff.add(run)
    clock.after(delay, () => {
      backingOff.delete(run)
      kick(run)
    })
  }

  return {
    kick,
    started(run, pid) {
      const request = { execution_id: run.executionId, claim_token: run.claimToken, pid }
      link.call('started', request).then(
        (answer) => {
          if ('stale' in answer) forget(run)
        },
        // If the link is down, the next hello reports the run as spawned.
        () => {},
      )
    },
    async settled() {
      while (busy.size > 0) await Promise.all(busy.values())
    },
  }
}
