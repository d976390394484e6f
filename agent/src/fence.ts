import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import type { Clock } from './kit/clock.ts'
import type { Log } from './kit/log.ts'

/**
 * Prevents a container on an unreachable node from writing to a workspace that another one took over. Each start
 * writes its number to a file on the agent's volume, and later starts have higher numbers. A program that reads a
 * higher number than its own ends, and with it all processes of its container.
 */
export type Fence = { close(): void }

export type FenceDeps = {
  /** On a volume that all containers of the agent share; turns must not reach it. */
  file: string
  start: number
  /** Time for an older container to notice, before this one writes anything else. */
  waitMs: number
  clock: Clock
  log: Pick<Log, 'warn'>
  /** Must end the process. */
  onSuperseded(): void
}

export const supersededExit = 75
const checkEveryMs = 1_000
const digits = 16

/** Resolves when this container may write to the workspace; throws `Superseded` if a newer start has it. */
export async function raiseFence(deps: FenceDeps): Promise<Fence> {
  const { file, start, waitMs, clock, log, onSuperseded } = deps
  let cancel = () => {}

  /** Returns false when a newer start has the workspace. */
  function check(): boolean {
    const found = read(file)
    if (found > start) return false
    // An older container that had read the file before may have overwritten the number.
    if (found < start) write(file, start)
    return true
  }

  function keepChecking(): void {
    cancel = clock.after(checkEveryMs, () => {
      let isOwn = true
      try {
        isOwn = check()
      } catch (error) {
        // The volume cannot be read, so nothing can be written to the workspace either.
        log.warn('cannot read the fence', { reason: String(error) })
      }
      if (isOwn) keepChecking()
      else onSuperseded()
    })
  }

  if (!check()) throw new Superseded()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  if (waitMs === 0) resolve()
  else clock.after(waitMs, () => (check() ? resolve() : reject(new Superseded())))
  await promise
  keepChecking()
  return { close: () => cancel() }
}

export class Superseded extends Error {
  constructor() {
    super('A newer container has the workspace.')
    this.name = 'Superseded'
  }
}

/** Writes in place: on a network volume, readers may see the old version of a replaced file in a cache. */
function write(file: string, start: number): void {
  const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600)
  try {
    writeSync(descriptor, String(start).padStart(digits, '0'), 0)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** 0 before the first start, and for content that is not a number. */
function read(file: string): number {
  const bytes = Buffer.alloc(digits)
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
  try {
    const length = readSync(descriptor, bytes, 0, digits, 0)
    return /^\d+$/.test(bytes.toString('latin1', 0, length)) ? Number(bytes.toString('latin1', 0, length)) : 0
  } finally {
    closeSync(descriptor)
  }
}
