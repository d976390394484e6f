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
  /** The platform has news, or the link is new: tell it the file's state whether it has changed or not. */
  tell(): void
  close(): void
}

/** Half of what an entry may take to be noticed; what is still being written is read at the next look. */
const lookMs = 2000

/**
 * Looks at the file every two seconds, tells the platform what it says when it has changed, and writes back what
 * the platform answers. A look costs one question to the file system; watching folders would miss what comes
 * over a volume.
 */
export function watchQueueFile({ file, link, clock, log }: QueueWatchDeps): QueueWatch {
  let told: string | null = null
  let unsure: string | null = null
  let isTelling = false
  let tellAgain = false
  let isClosed = false
  let cancel = next()

  function next() {
    return clock.after(lookMs, () => {
      void look().finally(() => {
        if (!isClosed) cancel = next()
      })
    })
  }

  async function look(): Promise<void> {
    if (isTelling || !link.isUp()) return
    if ((await file.mark()) !== told) await run()
  }

  /** One at a time; what is asked for meanwhile is done once more. */
  async function run(): Promise<void> {
    if (isTelling) {
      tellAgain = true
      return
    }
    isTelling = true
    try {
      do {
        tellAgain = false
        await exchange()
      } while (tellAgain && !isClosed)
    } catch (fault) {
      if (!(fault instanceof LinkDown)) log.warn('operator queue not told', { reason: faultText(fault) })
    } finally {
      isTelling = false
    }
  }

  async function exchange(): Promise<void> {
    const found = await file.read()
    if (found.kind === 'unreadable' && unsure !== found.mark) {
      // Perhaps half written: it counts when the next look finds it the same.
      unsure = found.mark
      return
    }
    const { updates } = await link.call('queue', stateOf(found))
    told = found.mark
    if (found.kind !== 'read' || updates.length === 0) return
    // Otherwise the agent was faster, and the next look tells what it has written.
    if (await file.write(found, updates)) told = await file.mark()
  }

  return {
    tell() {
      told = null
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
