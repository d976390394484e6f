import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { type Loop, startLoops } from '../background/loops.ts'
import { ConfigError, parseConfig } from '../config.ts'
import { createAudit } from '../foundation/audit/index.ts'
import { createLeases } from '../foundation/leases/index.ts'
import { openSettings } from '../foundation/settings/index.ts'
import { KeyFileError, openVault } from '../foundation/vault/index.ts'
import { secondsLater, systemClock } from '../kit/clock.ts'
import { migrations } from '../migrations/index.ts'
import { migrate, NewerSchemaError } from '../ports/database/migrator.ts'
import { openDatabase } from '../ports/database/open.ts'
import { openEphemeral } from '../ports/ephemeral/open.ts'
import { createLog } from '../ports/log.ts'
import { connectPlatform, startScheduler } from '../triggers/clock/index.ts'
import { fireRetention } from '../triggers/firing/index.ts'
import { createScheduleTimes, scheduleRetention } from '../triggers/schedules/index.ts'
import { installedOf } from './installed.ts'
import { stopInOrder } from './ordered-stop.ts'
import { exitConfig, fail, stopRequested, tell } from './supervision.ts'

const day = 24 * 3600

try {
  await runScheduler()
} catch (error) {
  if (error instanceof ConfigError || error instanceof KeyFileError || error instanceof NewerSchemaError) {
    fail(error.message, exitConfig)
  }
  throw error
}

/** What happens because time has passed: schedules are fired, and what is kept for a while only is removed. */
async function runScheduler(): Promise<void> {
  const stop = stopRequested()
  const config = parseConfig(process.env)
  const log = createLog({ level: config.logLevel }).child({ process: 'scheduler' })
  const clock = systemClock
  await mkdir(config.dataDir, { recursive: true })
  const db = await openDatabase(config.databaseUrl.reveal(), log)
  await migrate(db, migrations, { now: clock.now, progress: (text) => tell({ type: 'progress', text }) })
  const ephemeral = openEphemeral(config.redisUrl, { clock, log })
  const vault = openVault(config)
  const settings = await openSettings({ db, ephemeral, vault, clock, log, installed: installedOf(config) })
  const audit = createAudit({ db, clock, log })

  const loops: Loop[] = [
    ...settings.loops,
    fireRetention({ db, clock, log }),
    scheduleRetention({
      db,
      clock,
      log,
      retentionDays: () => settings.value('schedule_soft_delete_retention_days'),
    }),
    {
      name: 'audit-retention',
      everySeconds: 3600,
      async run() {
        const days = settings.value('audit_retention_days')
        const removed = await audit.sweep(secondsLater(clock.now(), -days * day))
        if (removed > 0) log.info({ removed, days }, 'audit entries older than their window were removed')
      },
    },
  ]
  const leases = createLeases({ db, clock })
  const running = startLoops({ loops, leases, clock, log })
  const platform = connectPlatform(`http://127.0.0.1:${config.internalPort}`)
  const scheduler = startScheduler({
    db,
    clock,
    log,
    leases,
    platform,
    times: createScheduleTimes(),
    name: `${hostname()} ${process.pid}`,
  })
  tell({ type: 'ready', url: '', docs_url: '', setup_completed: true, containers: '', notices: [] })
  log.info({ loops: loops.map(({ name }) => name) }, 'ready')

  const why = await stop
  log.info({ why }, 'stopping')
  await stopInOrder(
    [
      { name: 'scheduler', stop: () => scheduler.stop() },
      { name: 'connections to the platform', stop: () => platform.close() },
      { name: 'loops', stop: () => running.stop() },
      { name: 'settings', stop: () => settings.close() },
      { name: 'audit', stop: () => audit.close() },
      { name: 'short-lived data', stop: () => ephemeral.close() },
      { name: 'database', stop: () => db.close() },
    ],
    log,
  )
  process.exit(0)
}
