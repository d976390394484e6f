import { mkdir, writeFile } from 'node:fs/promises'
import { ConfigError, parseConfig } from '../config.ts'
import { createLeases } from '../foundation/leases/index.ts'
import { startHeartbeat } from '../foundation/replicas/index.ts'
import { KeyFileError, settleRotation } from '../foundation/vault/index.ts'
import { systemClock } from '../kit/clock.ts'
import { createScheduleTimes } from '../kit/schedule-times.ts'
import { UpgradeError } from '../operations/upgrades/index.ts'
import { openDatabase } from '../ports/database/open.ts'
import { SchemaError } from '../ports/database/port.ts'
import { createLog } from '../ports/log.ts'
import { connectPlatform, startScheduler } from '../triggers/scheduler/index.ts'
import { openInternalSecret } from './internal-secret.ts'
import { stopInOrder } from './ordered-stop.ts'
import { describeReplica } from './replica.ts'
import { exitConfig, fail, sendMessage, stopRequested } from './supervision.ts'
import { requireUpgraded, untilUpgraded, upgradeDatabase } from './upgrade-database.ts'

try {
  await runScheduler()
} catch (error) {
  const final = [ConfigError, KeyFileError, SchemaError, UpgradeError]
  if (error instanceof Error && final.some((type) => error instanceof type)) {
    fail(error.message, exitConfig)
  }
  throw error
}

/** Fires schedules when they are due. Kept small: it opens only what that needs. */
async function runScheduler(): Promise<void> {
  const stop = stopRequested()
  const stopping = new AbortController()
  void stop.then(() => stopping.abort())
  const config = parseConfig(process.env)
  const log = createLog({ level: config.logLevel }).child({ process: 'scheduler' })
  const clock = systemClock
  await mkdir(config.dataDir, { recursive: true })
  const db = await openDatabase(config.databaseUrl.reveal(), log)
  const progress = (text: string) => sendMessage({ type: 'progress', text })
  if (!config.upgradeAtStart) {
    if (!(await untilUpgraded(db, { clock, progress, signal: stopping.signal }))) process.exit(0)
  } else if (config.internalSecret || config.internalSecretFile) {
    // With a configured secret this process needs no key, and may not have the one in use.
    await requireUpgraded(db)
  } else {
    await upgradeDatabase(config, db, { clock, progress })
    await settleRotation(db, config)
  }
  const internalSecret = await openInternalSecret(config).catch((error: unknown) =>
    fail(unreadableKey(error)),
  )
  const replica = await describeReplica('scheduler', clock)
  const leases = createLeases({ db, clock })
  const platform = connectPlatform(
    config.controlUrl ?? `http://127.0.0.1:${config.internalPort}`,
    internalSecret,
  )
  const scheduler = startScheduler({
    db,
    clock,
    log,
    leases,
    platform,
    times: createScheduleTimes(),
    name: `${replica.host_name} ${replica.process_id}`,
    replicaId: replica.id,
    onAlive: heartbeat(config.heartbeatFile, (error) =>
      log.warn({ err: error }, 'the heartbeat cannot be written'),
    ),
  })
  const beating = startHeartbeat({ db, clock, log, replica })
  sendMessage({ type: 'ready', url: '', docs_url: '', setup_completed: true, containers: '', notices: [] })
  log.info({}, 'ready')

  const reason = await stop
  log.info({ why: reason }, 'stopping')
  await stopInOrder(
    [
      { name: 'scheduler', stop: () => scheduler.stop() },
      { name: 'connections to the platform', stop: () => platform.close() },
      { name: 'heartbeat', stop: () => beating.stop() },
      { name: 'database', stop: () => db.close() },
    ],
    log,
  )
  process.exit(0)
}

/** Writes the file for the image's health check, which compares its time. */
function heartbeat(path: string | null, onFailed: (error: unknown) => void): () => void {
  return () => {
    if (path !== null) writeFile(path, '').catch(onFailed)
  }
}

function unreadableKey(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  return `Start the API first, or set ROOST_INTERNAL_SECRET for both. The encryption key cannot be read: ${reason}`
}
