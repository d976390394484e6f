import type { Log } from '../ports/log.ts'

export type Stoppable = { name: string; stop(): Promise<void> | void }

/**
 * Stops in the given order: what takes new work first, what others stand on last. One part that hangs or
 * fails is logged and does not keep the rest from stopping.
 */
export async function stopInOrder(parts: Stoppable[], log: Log, graceMs = 10_000): Promise<void> {
  for (const part of parts) {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), graceMs)
      timer.unref()
    })
    try {
      const outcome = await Promise.race([Promise.resolve(part.stop()), late])
      if (outcome === 'late') log.warn({ part: part.name, grace_ms: graceMs }, 'did not stop in time')
    } catch (error) {
      log.error({ part: part.name, err: error }, 'failed while stopping')
    } finally {
      clearTimeout(timer)
    }
  }
}
