import { maxQueueEntries } from '@roost/contracts/link/queue'
import type { Clock } from '../kit/clock.ts'
import { faultText, type Log } from '../kit/log.ts'
import { type Link, LinkDown } from '../link/link.ts'
import type { QueueDocument, QueueFile } from './file.ts'

export type QueueWatchDeps = {
  file: QueueFile
  link: Pick<Link, 'call' | 'isUp'>
  clock: Clock
  log: Log
}

export type QueueWatch = {
  /** Reports the file's state even if unchanged, after a platform request or a new link. */
  report(): void
  close(): void
}

/**
 * Time between checks: half the delay allowed for an entry. A half-written file is read at the next check.
 */
const checkMs = 2000

/**
 * Checks the file every two seconds, reports changes to the platform and writes its answers back. A check
 * costs one `stat`. Watching folders would miss changes made through a volume.
 */
export function watchQueueFile({ file, link, clock, log }: QueueWatchDeps): QueueWatch {
  let reported: string | null = null
  let unreadable: string | null = null
  let isReporting = false
  let reportAgain = false
  let isClosed = false
  let cancel = next()

  function next() {
    return clock.after(checkMs, () => {
      void look().finally(() => {
        if (!isClosed) cancel = next()
      })
    })
  }

  async function look(): Promise<void> {
    if (isReporting || !link.isUp()) return
    if ((await file.mark()) !== reported) await run()
  }

  /** Runs one exchange at a time; requests in between cause one more. */
  async function run(): Promise<void> {
    if (isReporting) {
      reportAgain = true
      return
    }
    isReporting = true
    try {
      do {
        reportAgain = false
        await exchange()
      } while (reportAgain && !isClosed)
    } catch (fault) {
      if (!(fault instanceof LinkDown)) log.warn('operator queue not reported', { reason: faultText(fault) })
    } finally {
      isReporting = false
    }
  }

  async function exchange(): Promise<void> {
    const found = await file.read()
    if (found.kind === 'unreadable' && unreadable !== found.mark) {
      // The file may be half written: it is reported only if the next check finds it unchanged.
      unreadable = found.mark
      return
    }
    const { updates } = await link.call('queue', stateOf(found))
    reported = found.mark
    if (found.kind !== 'read' || updates.length === 0) return
    // On failure the agent has changed the file, and the next check reports it.
    if (await file.write(found, updates)) reported = await file.mark()
  }

  return {
    report() {
      reported = null
      if (link.isUp()) void run()
    },
    close() {
      isClosed = true
      cancel()
    },
  }
}

function stateOf(found: QueueDocument): { requests: unknown[] | null; fault: string | null } {
  switch (found.kind) {
    case 'absent':
      return { requests: null, fault: null }
    case 'unreadable':
      return { requests: null, fault: found.reason }
    case 'read':
      return { requests: found.requests.slice(-maxQueueEntries), fault: null }
  }
}
