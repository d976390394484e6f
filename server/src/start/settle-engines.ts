import { access, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { agentStore } from '../agents/records/index.ts'
import type { Config } from '../config.ts'
import { liveHostsOf } from '../foundation/replicas/index.ts'
import type { Clock } from '../kit/clock.ts'
import { restoredFile } from '../operations/backup/index.ts'
import { ContainerError, type Containers } from '../ports/containers/port.ts'
import type { Db } from '../ports/database/port.ts'
import type { Log } from '../ports/log.ts'

/** In the data folder: the value of `ROOST_ADOPT_ENGINE` that has had its effect. */
const adoptedFile = 'adopted-engine'
/** The value of `ROOST_ADOPT_ENGINE` for agents that no engine has. */
const unknownEngine = 'unknown'
/** An earlier version recorded this for every engine behind the engine filter. */
const constantEngine = 'podman:undefined:undefined'

/**
 * Before agents are compared with the engine: forgets engines that a restored database or `constantEngine` names, and
 * takes over the agents of the engine in `ROOST_ADOPT_ENGINE`. That happens once, until a start without the variable: the
 * lost machine may have returned. While the own engine does not answer, only the next start does it.
 */
export async function settleEngines(
  { dataDir, adoptEngine: from }: Pick<Config, 'dataDir' | 'adoptEngine'>,
  deps: {
    db: Db
    clock: Pick<Clock, 'now'>
    containers: Pick<Containers, 'ping'>
    log: Pick<Log, 'error' | 'warn'>
  },
): Promise<void> {
  const { db, log } = deps
  const marker = join(dataDir, restoredFile)
  const isRestored = await access(marker).then(
    () => true,
    () => false,
  )
  await db.atomically((tx) => agentStore(tx).forgetEngines(isRestored ? undefined : constantEngine))
  if (isRestored) await rm(marker, { force: true })
  const adopted = join(dataDir, adoptedFile)
  if (from === null) return rm(adopted, { force: true })
  if ((await readFile(adopted, 'utf8').catch(() => null)) === from) {
    log.warn({ from }, 'ROOST_ADOPT_ENGINE has had its effect: remove it')
    return
  }
  try {
    if (await adopt(from, deps)) await writeFile(adopted, from)
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error
    log.warn({ err: error, from }, 'ROOST_ADOPT_ENGINE has no effect: the container engine does not answer')
  }
}

/** Returns false if a live replica uses the engine. */
async function adopt(
  from: string,
  { db, clock, containers, log }: Parameters<typeof settleEngines>[1],
): Promise<boolean> {
  const { id: to } = await containers.ping()
  if (from === unknownEngine) {
    const agents = await db.atomically((tx) => agentStore(tx).adoptUnrecorded(to))
    log.warn({ agents, to }, 'took over agents without a container engine: missing volumes are created empty')
    return true
  }
  // Not an end of the process: the variable may have stayed after the lost machine came back.
  const hosts = from === to ? [] : await liveHostsOf(db, from, clock.now())
  if (hosts.length > 0) {
    log.error(
      { from, hosts },
      'ROOST_ADOPT_ENGINE has no effect: a live replica uses the engine. Remove the variable, or stop that replica, wait 15 seconds and restart',
    )
    return false
  }
  const agents = await db.atomically((tx) => agentStore(tx).moveToEngine(from, to))
  log.warn({ agents, from, to }, 'took over agents of another container engine: they start with new volumes')
  return true
}
