import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Keeping, SpokenLine } from './keeping.ts'
import type { CallRow } from './store.ts'

const tries = 30
const pauseMs = 1000

/** Writes the lines of one call, in order, while the call goes on; a database that is away is waited for. */
export function createLineWriter(
  call: CallRow,
  deps: { clock: Clock; log: Log; keeping: Pick<Keeping, 'keepLine'>; gone(): void },
) {
  const { clock, log, keeping, gone } = deps
  let last: Promise<void> = Promise.resolve()

  async function write(line: SpokenLine): Promise<void> {
    for (let count = 1; ; count += 1) {
      try {
        if (!(await keeping.keepLine(call, line))) gone()
        return
      } catch (error) {
        if (count === tries) {
          log.error({ err: error, call_id: call.id }, 'a line of a call could not be kept')
          return
        }
        await clock.wait(pauseMs)
      }
    }
  }

  return {
    add(line: SpokenLine): void {
      last = last.then(() => write(line))
    },
    /** Resolves when everything is written that was added. */
    written: (): Promise<void> => last,
  }
}
