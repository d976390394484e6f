import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { End } from './end.ts'
import { overdueOutcome } from './rules.ts'
import { callStore } from './store.ts'

/** The provider sends its last status within seconds of the end. */
const tokenSeconds = 900
/** Matches the default retention of executions. */
const retentionDays = 90
const batch = 50

/** Ends calls past their deadline: unanswered, without media, or abandoned by a crashed process. */
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
          'a call reached its deadline',
        )
        await endings.end(call.id, outcome)
      }
    },
    async old(): Promise<void> {
      await callStore(db).forgetTokens(before(tokenSeconds))
      await callStore(db).removeEnded(before(retentionDays * 86_400))
    },
  }
}
