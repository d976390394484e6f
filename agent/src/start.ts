import { startAgent } from './agent.ts'
import { readConfig } from './config.ts'
import { Superseded, supersededExit } from './fence.ts'
import { systemClock } from './kit/clock.ts'
import { createLog, faultText } from './kit/log.ts'
import { saveMemory } from './kit/memory-saving.ts'
import { startForwarder } from './link/forwarder.ts'
import { workAsDeveloper } from './processes/identity.ts'
import { openRuntime } from './runtimes/open.ts'

/** The program of an agent's container, running from the container's start to its end. */
const log = createLog((line) => process.stderr.write(line))

/** Time for a runtime to save its session when the container stops; the engine kills after ten seconds. */
const stopGraceMs = 5000

try {
  workAsDeveloper()
  const config = readConfig(process.env)
  // Several users share the workspace through its group.
  process.umask(0o002)
  // A sandbox without a network has the platform's socket in a shared folder.
  if (config.gateway) {
    const { socket, port } = config.gateway
    const locate = async () => ({ path: socket })
    await startForwarder({ host: '127.0.0.1', port, locate, clock: systemClock })
  }
  const agent = await startAgent({
    config,
    variables: process.env,
    runtime: openRuntime(config.runtime, process.env),
    clock: systemClock,
    log,
    whenIdle: saveMemory(),
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void agent.close(stopGraceMs).finally(() => process.exit(0)))
  }
} catch (fault) {
  log.warn('cannot start', { reason: faultText(fault) })
  process.exitCode = fault instanceof Superseded ? supersededExit : 1
}
