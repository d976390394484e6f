import { access, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { agentStore } from '../agents/records/index.ts'
import type { Config } from '../config.ts'
import { restoredFile } from '../operations/backup/index.ts'
import { ContainerError, type Containers } from '../ports/containers/port.ts'
import type { Db } from '../ports/database/port.ts'
import type { Log } from '../ports/log.ts'

/**
 * Before agents are compared with the engine: forgets the engines of a restored database, and takes over the agents of
 * the engine in `ROOST_ADOPT_ENGINE`. While the own engine does not answer, only the next start does that.
 */
export async function settleEngines(
  config: Pick<Config, 'dataDir' | 'adoptEngine'>,
  { db, containers, log }: { db: Db; containers: Pick<Containers, 'ping'>; log: Pick<Log, 'warn'> },
): Promise<void> {
  const marker = join(config.dataDir, restoredFile)
  const isRestored = await access(marker).then(
    () => true,
    () => false,
  )
  if (isRestored) {
    await db.atomically((tx) => agentStore(tx).forgetEngines())
    await rm(marker, { force: true })
  }
  const { adoptEngine: from } = config
  if (from === null) return
  try {
    const { id: to } = await containers.ping()
    const agents = await db.atomically((tx) => agentStore(tx).moveToEngine(from, to))
    if (agents > 0)
      log.warn(
        { agents, from, to },
        'took over agents of another container engine: they start with new volumes',
      )
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error
    log.warn({ err: error, from }, 'ROOST_ADOPT_ENGINE has no effect: the container engine does not answer')
  }
}
