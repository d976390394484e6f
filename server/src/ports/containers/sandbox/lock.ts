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

/**
 * Makes this process the only supervisor of a folder; null when another one lives or the folder is missing.
 */
export function claimFolder(folder: string): StoredSupervisor | null {
  return withOwnFile(folder, (ownFile, self) => {
    const claim = join(folder, containerFiles.supervisor)
    for (let tries = 0; tries < 3; tries += 1) {
      // Unlike a rename, a link fails when the name exists, so only one claimant succeeds.
      if (isLinked(ownFile, claim)) return self
      if (holderOf(claim) === 'living') return null
      recordEnd(folder, ownFile)
    }
    return null
  })
}

/**
 * Records the end of a killed supervisor's run and removes its claim. Only this removes foreign claims, so a
 * living supervisor is never mistaken for a dead one.
 */
export function buryDead(folder: string): void {
  if (holderOf(join(folder, containerFiles.supervisor)) === 'dead') {
    withOwnFile(folder, (ownFile) => recordEnd(folder, ownFile))
  }
}

/** Returns the living supervisor of a folder, or null. */
export async function livingSupervisor(folder: string): Promise<StoredSupervisor | null> {
  const holder = await readJson<StoredSupervisor>(join(folder, containerFiles.supervisor))
  return holder && (await processStartTicks(holder.pid)) === holder.startTicks ? holder : null
}

export function isSame(one: StoredSupervisor | null | undefined, other: StoredSupervisor): boolean {
  return one?.pid === other.pid && one.startTicks === other.startTicks
}

/** Runs `work` with a file that identifies this process; null when the file cannot be created. */
function withOwnFile<T>(folder: string, work: (ownFile: string, self: StoredSupervisor) => T): T | null {
  const ownFile = join(folder, `${containerFiles.supervisor}.${process.pid}`)
  const startTicks = startTicksNow(process.pid)
  if (startTicks === null) return null
  const self = { pid: process.pid, startTicks }
  try {
    writeJson(ownFile, self)
  } catch {
    return null
  }
  try {
    return work(ownFile, self)
  } finally {
    rmSync(ownFile, { force: true })
  }
}

/**
 * Checks again under a guard file, because the next supervisor may claim the folder in between. If another
 * process holds the guard, that one does the work.
 */
function recordEnd(folder: string, ownFile: string): void {
  const guard = join(folder, 'burying.json')
  if (!isLinked(ownFile, guard)) {
    // Its owner was killed within these few lines. Two processes that detect this simultaneously may both
    // continue.
    if (holderOf(guard) === 'dead') rmSync(guard, { force: true })
    return
  }
  try {
    const claim = join(folder, containerFiles.supervisor)
    if (holderOf(claim) !== 'dead') return
    writeEnd(folder)
    rmSync(claim, { force: true })
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

/** Returns null for an invalid claim: a power failure may leave an empty file. */
function parsed(text: string): StoredSupervisor | null {
  try {
    // Written only by `withOwnFile` above.
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
