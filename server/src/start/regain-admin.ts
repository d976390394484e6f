/**
 * Gives the first admin a new password and prints it, whether the platform runs or not. Anyone who can read the
 * data folder may run it. Exit codes: 0 done, 78 invalid configuration, 1 any other error.
 */
import { redactText } from '@roost/contracts/kit/redact'
import { ConfigError, parseConfig } from '../config.ts'
import { createAudit } from '../foundation/audit/index.ts'
import { openIdentityChanges } from '../identity/access/index.ts'
import { regainAdmin } from '../identity/sessions/index.ts'
import { createUsers } from '../identity/users/index.ts'
import { systemClock as clock } from '../kit/clock.ts'
import { hasPushDevices, pushDeviceStore } from '../operations/push/index.ts'
import { openDatabase } from '../ports/database/open.ts'
import type { Db } from '../ports/database/port.ts'
import { memoryEphemeral } from '../ports/ephemeral/memory.ts'
import { createLog, type Log } from '../ports/log.ts'
import { exitConfig, fail, sendMessage } from './supervision.ts'

try {
  const config = parseConfig(process.env)
  const log = createLog({ level: config.logLevel })
  const db = await openDatabase(config.databaseUrl.reveal(), log)
  try {
    await regain(db, log)
  } finally {
    await db.close()
  }
} catch (error) {
  const reason = redactText(error instanceof Error ? error.message : String(error))
  fail(reason, error instanceof ConfigError ? exitConfig : 1)
}
// The channel to the parent process would keep this process alive.
if (process.send) process.disconnect()

async function regain(db: Db, log: Log): Promise<void> {
  // Other processes see the change within seconds, when their caches expire.
  const ephemeral = memoryEphemeral({ clock, log })
  const changes = await openIdentityChanges({ ephemeral, onLost: () => {} })
  const hasDevices = await hasPushDevices(db)
  const regained = await regainAdmin({
    ...{ db, clock, users: createUsers({ db, clock, changes }) },
    async onEnded(tx, userId) {
      if (hasDevices) await pushDeviceStore(tx).removeOfUser(userId)
    },
  })
  await changes.close()
  if (!regained)
    throw new Error('There is no admin yet. Open the platform in a browser and choose a password.')
  const audit = createAudit({ db, clock, log })
  audit.record({
    event_type: 'authentication',
    event_action: 'regain_admin',
    actor_type: 'system',
    target_type: 'user',
    target_id: regained.userId,
    source: 'system',
  })
  await audit.close()
  sendMessage({ type: 'progress', text: `User name: ${regained.username}` })
  sendMessage({ type: 'progress', text: `Password:  ${regained.password}` })
}
