import { watch } from 'node:fs'
import { type Clock, systemClock } from '../../../kit/clock.ts'
import { retryDelayMs } from '../backoff.ts'
import type { ContainerEvent } from '../port.ts'
import { journalEnd, readJournal } from './journal.ts'

export type SandboxEventSource = {
  journal: string
  /** Throws while nothing can run on this host. */
  usable(): Promise<unknown>
  /** Writes the ends of containers whose supervisors were killed to the journal. */
  sweep(): Promise<void>
  sweepSeconds: number
  clock?: Clock
}

/**
 * See `Containers.events`: yields entries that supervisors append to the journal, using file notifications.
 */
export async function* followSandboxEvents(
  source: SandboxEventSource,
  signal: AbortSignal,
): AsyncGenerator<ContainerEvent> {
  const clock = source.clock ?? systemClock
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      await source.usable()
      for await (const event of followJournal(source, clock, signal)) {
        attempt = 0
        yield event
      }
    } catch {
      // Bubblewrap, journal or watches may be missing temporarily; the loop retries.
    }
    await clock.wait(retryDelayMs(attempt), signal)
  }
}

async function* followJournal(
  source: SandboxEventSource,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<ContainerEvent> {
  const position = await journalEnd(source.journal)
  let changed = new AbortController()
  const wake = () => changed.abort()
  const watcher = watch(source.journal, wake)
  let failed: Error | null = null
  watcher.on('error', (error) => {
    failed = error
    wake()
  })
  signal.addEventListener('abort', wake, { once: true })
  try {
    yield { type: 'resync' }
    let sweptAt = clock.now().getTime()
    while (!signal.aborted) {
      if (failed) throw failed
      changed = new AbortController()
      const entries = await readJournal(source.journal, position)
      if (entries === null) return
      yield* entries
      const now = clock.now().getTime()
      const untilSweepMs = sweptAt + source.sweepSeconds * 1000 - now
      if (untilSweepMs > 0) await clock.wait(untilSweepMs, changed.signal)
      else {
        sweptAt = now
        await source.sweep()
      }
    }
  } finally {
    signal.removeEventListener('abort', wake)
    watcher.close()
  }
}
