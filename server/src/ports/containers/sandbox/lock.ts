import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseStat, processStartTicks } from '../proc.ts'
import { containerFiles, readJson, readJsonNow, type StoredSupervisor, writeJson } from './folders.ts'

/** Makes this process the one supervisor of a folder; false when another lives. */
export function claimFolder(folder: string): boolean {
  const held = join(folder, containerFiles.supervisor)
  const mine = join(folder, `${containerFiles.supervisor}.${process.pid}`)
  const self = startTicksNow(process.pid)
  if (self === null) return false
  try {
    writeJson(mine, { pid: process.pid, startTicks: self } satisfies StoredSupervisor)
  } catch {
    // The container was removed while this process was on its way.
    return false
  }
  try {
    // A link fails when its name is taken, which a rename would not: of several claimants one wins.
    for (let tries = 0; tries < 3; tries += 1) {
      try {
        linkSync(mine, held)
        return true
      } catch {
        const holder = readJsonNow<StoredSupervisor>(held)
        if (holder && startTicksNow(holder.pid) === holder.startTicks) return false
        moveAway(held, mine)
      }
    }
    return false
  } finally {
    rmSync(mine, { force: true })
  }
}

/** The living supervisor of a folder, null when there is none. */
export async function livingSupervisor(folder: string): Promise<StoredSupervisor | null> {
  const holder = await readJson<StoredSupervisor>(join(folder, containerFiles.supervisor))
  return holder && (await processStartTicks(holder.pid)) === holder.startTicks ? holder : null
}

function moveAway(held: string, mine: string): void {
  try {
    renameSync(held, `${mine}.stale`)
    rmSync(`${mine}.stale`, { force: true })
  } catch {
    // Another claimant was quicker; the next try tells who won.
  }
}

function startTicksNow(pid: number): number | null {
  try {
    const fields = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    return fields.state === 'Z' ? null : fields.startTicks
  } catch {
    return null
  }
}
