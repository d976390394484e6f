import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { ConfigError, parseConfig } from '../config.ts'
import { createLeases } from '../foundation/leases/index.ts'
import { systemClock } from '../kit/clock.ts'
import { createScheduleTimes } from '../kit/schedule-times.ts'
import { migrations } from '../migrations/index.ts'
import { migrate } from '../ports/database/migrator.ts'
import { openDatabase } from '../ports/database/open.ts'
import { SchemaError } from '../ports/database/port.ts'
import { createLog } from '../ports/log.ts'
import { connectPlatform, startScheduler } from '../triggers/scheduler/index.ts'
import { openInternalSecret } from './internal-secret.ts'
import { stopInOrder } from './ordered-stop.ts'
import { exitConfig, fail, sendMessage, stopRequested } from './supervision.ts'

try {
  await runScheduler()
} catch (error) {
  if (error instanceof ConfigError || error instanceof SchemaError) {
    fail(error.message, exitConfig)
  }
  throw error
}

/** Fires schedules when they are due. Kept small: it opens only what that needs. */
async function runScheduler(): Promise<void> {
  const stop = stopRequested()
  const config = parseConfig(process.env)
  const log = createLog({ level: config.logLevel }).child({ process: 'scheduler' })
  const clock = systemClock
  await mkdir(config.dataDir, { recursive: true })
  const internalSecret = await openInternalSecret(config).catch((error: unknown) =>
    fail(unreadableKey(error)),
  )
  const db = await openDatabase(config.databaseUrl.reveal(), log)
  await migrate(db, migrations, {
    now: clock.now,
    progress: (text) => sendMessage({ type: 'progress', text }),
  })
  const leases = createLeases({ db, clock })
  const platform = connectPlatform(`http://127.0.0.1:${config.internalPort}`, internalSecret)
  const scheduler = startScheduler({
    db,
    clock,
    log,
    leases,
    platform,
    times: createScheduleTimes(),
    name: `${hostname()} ${process.pid}`,
  })
  sendMessage({ type: 'ready', url: '', docs_url: '', setup_completed: true, containers: '', notices: [] })
  log.info({}, 'ready')

  const reason = await stop
  log.info({ why: reason }, 'stopping')
  await stopInOrder(
    [
      { name: 'scheduler', stop: () => scheduler.stop() },
      { name: 'connections to the platform', stop: () => platform.close() },
      { name: 'database', stop: () => db.close() },
    ],
    log,
  )
  process.exit(0)
}

function unreadableKey(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  return `Start the API first, or set ROOST_INTERNAL_SECRET for both. The encryption key cannot be read: ${reason}`
}
