/**
 * A process with one background loop, for tests that kill or freeze it. Reports each step of a run to its parent.
 * Arguments: URL of the database, id of the holder.
 */
import { startLoops } from '../background/loops.ts'
import { createLeases } from '../foundation/leases/index.ts'
import { systemClock as clock } from '../kit/clock.ts'
import { openDatabase } from '../ports/database/open.ts'
import { silentLog } from '../ports/log.ts'

const [url = '', holder = ''] = process.argv.slice(2)
const db = await openDatabase(url, silentLog)
const places = { engine: async () => 'engine', history: async () => 'history' }
const report = (what: string) => process.send?.({ holder, what })

startLoops({
  loops: [
    {
      // As rare as the sweeps: a successor must not wait for its next turn.
      ...{ name: 'sweep', everySeconds: 3600 },
      async run(signal) {
        report('began')
        while (!signal.aborted) {
          await clock.wait(200, signal)
          if (!signal.aborted) report('step')
        }
        report('ended')
      },
    },
  ],
  ...{ leases: createLeases({ db, clock }), clock, log: silentLog, holder, places },
})
report('ready')
process.once('disconnect', () => process.exit(0))
