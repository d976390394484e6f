import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { End } from './end.ts'
import { overdueOutcome } from './rules.ts'
import { callStore } from './store.ts'

/** The provider's last word comes within seconds of the end. */
const tokenSeconds = 900
/** As long as the rows of executions are kept by default. */
const keptDays = 90
const batch = 50

/** What nobody tells: calls that nobody answers, whose sound never comes, or whose process has died. */
export function createSweep({
  db,
  clock,
  log,
  endings,
}: {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Log
  endings: Pick<End, 'end'>
}) {
  const before = (seconds: number) => timestamp(secondsLater(clock.now(), -seconds))
  return {
    async overdue(signal: AbortSignal): Promise<void> {
      for (const call of await callStore(db).overdue(before(0), batch)) {
        if (signal.aborted) return
        const outcome = overdueOutcome(call)
        log.info(
          { call_id: call.id, execution_id: call.execution_id, outcome },
          'a call came to its deadline',
        )
        await endings.end(call.id, outcome)
      }
    },
    async old(): Promise<void> {
      await callStore(db).forgetTokens(before(tokenSeconds))
      await callStore(db).removeEnded(before(keptDays * 86_400))
    },
  }
}
