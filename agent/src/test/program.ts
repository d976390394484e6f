import { startAgent } from '../agent.ts'
import { readConfig } from '../config.ts'
import { systemClock } from '../kit/clock.ts'
import { createLog } from '../kit/log.ts'
import { workAsDeveloper } from '../processes/identity.ts'
import { fake } from '../runtimes/fake.ts'

/** The agent program with the fake runtime, as a process that tests can kill. */
if (import.meta.main) {
  workAsDeveloper()
  process.umask(0o002)
  await startAgent({
    config: readConfig(process.env),
    variables: process.env,
    runtime: fake,
    clock: systemClock,
    log: createLog((line) => process.stderr.write(line)),
  })
}
