import { watch } from 'node:fs'
import { type Clock, systemClock } from '../../../kit/clock.ts'
import { retryDelayMs } from '../backoff.ts'
import type { ContainerEvent } from '../port.ts'
import { journalEnd, readJournal } from './journal.ts'

export type SandboxEventSource = {
  journal: string
  /** Throws while nothing can run on this host. */
  usable(): Promise<unknown>
  /** Writes the end of containers whose supervisor was killed into the journal: nobody else can tell it. */
  sweep(): Promise<void>
  sweepSeconds: number
  clock?: Clock
}

/** See `Containers.events`: what supervisors append to the journal, told by the kernel when it changes. */
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
      // No bubblewrap, no journal, no watches left: each may come back, and the loop finds out.
    }
    await clock.wait(retryDelayMs(attempt), signal)
  }
}

async function* followJournal(
  source: SandboxEventSource,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<ContainerEvent> {
  const place = await journalEnd(source.journal)
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
    let swept = clock.now().getTime()
    while (!signal.aborted) {
      if (failed) throw failed
      changed = new AbortController()
      const entries = await readJournal(source.journal, place)
      if (entries === null) return
      yield* entries
      const now = clock.now().getTime()
      const untilSweepMs = swept + source.sweepSeconds * 1000 - now
      if (untilSweepMs > 0) await clock.wait(untilSweepMs, changed.signal)
      else {
        swept = now
        await source.sweep()
      }
    }
  } finally {
    signal.removeEventListener('abort', wake)
    watcher.close()
  }
}
