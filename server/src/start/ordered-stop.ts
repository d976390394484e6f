import type { Log } from '../ports/log.ts'

export type Stoppable = { name: string; stop(): Promise<void> | void }

/**
 * Stops the parts in order: those that accept new work first, those that others depend on last. A part that
 * hangs or fails is logged and does not block the others.
 */
export async function stopInOrder(parts: Stoppable[], log: Log, graceMs = 10_000): Promise<void> {
  for (const part of parts) {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), graceMs)
      timer.unref()
    })
    try {
      const outcome = await Promise.race([Promise.resolve(part.stop()), timeout])
      if (outcome === 'late') log.warn({ part: part.name, grace_ms: graceMs }, 'did not stop in time')
    } catch (error) {
      log.error({ part: part.name, err: error }, 'failed while stopping')
    } finally {
      clearTimeout(timer)
    }
  }
}
