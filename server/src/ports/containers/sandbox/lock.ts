import { linkSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseStat, processStartTicks } from '../proc.ts'
import {
  containerFiles,
  type Launch,
  readJson,
  readJsonNow,
  type StoredSpec,
  type StoredState,
  type StoredSupervisor,
  writeJson,
} from './folders.ts'
import { appendToJournal } from './journal.ts'

/** Makes this process the one supervisor of a folder; null when another lives, or the folder has gone. */
export function claimFolder(folder: string): StoredSupervisor | null {
  return named(folder, (mine, self) => {
    const held = join(folder, containerFiles.supervisor)
    for (let tries = 0; tries < 3; tries += 1) {
      // A link fails when its name is taken, which a rename would not: of several claimants one wins.
      if (isLinked(mine, held)) return self
      if (holderOf(held) === 'living') return null
      buryAlone(folder, mine)
    }
    return null
  })
}

/**
 * Where the supervisor was killed: writes and tells the end of its run, and takes its claim away. Nothing else
 * ever takes away a claim that is not its own, so none that lives is taken for the dead one before it.
 */
export function buryDead(folder: string): void {
  if (holderOf(join(folder, containerFiles.supervisor)) === 'dead') {
    named(folder, (mine) => buryAlone(folder, mine))
  }
}

/** The living supervisor of a folder, null when there is none. */
export async function livingSupervisor(folder: string): Promise<StoredSupervisor | null> {
  const holder = await readJson<StoredSupervisor>(join(folder, containerFiles.supervisor))
  return holder && (await processStartTicks(holder.pid)) === holder.startTicks ? holder : null
}

export function isSame(one: StoredSupervisor | null | undefined, other: StoredSupervisor): boolean {
  return one?.pid === other.pid && one.startTicks === other.startTicks
}

/** Does `work` with a file that names this process; null when it cannot be made, as where the folder has gone. */
function named<T>(folder: string, work: (mine: string, self: StoredSupervisor) => T): T | null {
  const mine = join(folder, `${containerFiles.supervisor}.${process.pid}`)
  const startTicks = startTicksNow(process.pid)
  if (startTicks === null) return null
  const self = { pid: process.pid, startTicks }
  try {
    writeJson(mine, self)
  } catch {
    return null
  }
  try {
    return work(mine, self)
  } finally {
    rmSync(mine, { force: true })
  }
}

/**
 * One process at a time looks again and buries: between a look and the removal the next supervisor could have
 * come. Whoever finds another one at it leaves it to that one.
 */
function buryAlone(folder: string, mine: string): void {
  const guard = join(folder, 'burying.json')
  if (!isLinked(mine, guard)) {
    // Killed within these few lines. Two that find it so at the same moment are not kept apart.
    if (holderOf(guard) === 'dead') rmSync(guard, { force: true })
    return
  }
  try {
    const held = join(folder, containerFiles.supervisor)
    if (holderOf(held) !== 'dead') return
    writeEnd(folder)
    rmSync(held, { force: true })
  } finally {
    rmSync(guard, { force: true })
  }
}

function writeEnd(folder: string): void {
  const path = join(folder, containerFiles.state)
  const state = readJsonNow<StoredState>(path)
  const stored = readJsonNow<StoredSpec>(join(folder, containerFiles.spec))
  const launch = readJsonNow<Launch>(join(folder, containerFiles.launch))
  if (!state || !stored || !launch) return
  const wasRunning = state.status === 'running'
  const exitCode = wasRunning ? null : state.exitCode
  const ended: StoredState = { ...state, status: 'stopped', pid: null, exitCode, restartAt: null }
  writeJson(path, ended)
  if (!wasRunning) return
  const { id, spec } = stored
  const at = new Date().toISOString()
  appendToJournal(launch.journal, {
    type: 'exited',
    id,
    name: spec.name,
    exitCode: null,
    oomKilled: false,
    at,
  })
}

function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch {
    return false
  }
}

function holderOf(path: string): 'living' | 'dead' | 'none' {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return 'none'
  }
  const holder = parsed(text)
  return holder && startTicksNow(holder.pid) === holder.startTicks ? 'living' : 'dead'
}

/** Null for what is no claim: these files appear whole, but a power cut may leave one without its text. */
function parsed(text: string): StoredSupervisor | null {
  try {
    // Written by `named` above and by nothing else.
    return JSON.parse(text) as StoredSupervisor
  } catch {
    return null
  }
}

function startTicksNow(pid: number): number | null {
  try {
    const fields = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    return fields.state === 'Z' || fields.state === 'X' ? null : fields.startTicks
  } catch {
    return null
  }
}
