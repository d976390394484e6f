import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '../kit/clock.ts'
import { createRunSpool, type RunIdentity, type RunSpool, recoverRunSpool } from './run-spool.ts'

/** The runs whose results the platform has not stored yet. They are on the volume and survive a restart. */
export type Spool = {
  /** Creates the spool of a run and replaces that of an earlier claim. */
  open(run: RunIdentity): RunSpool
  get(executionId: string): RunSpool | null
  all(): RunSpool[]
}

const defaultMaxBytes = 512 * 1024 * 1024

/** Opens the spool in `directory`; `all()` includes runs of an earlier process. */
export function openSpool(directory: string, clock: Clock, maxBytes = defaultMaxBytes): Spool {
  mkdirSync(dirname(directory), { recursive: true })
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const runs = new Map<string, RunSpool>()
  const isFull = () => sum([...runs.values()].map((run) => run.bytes())) >= maxBytes

  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    const run = tryRecover(() => recoverRunSpool({ directory: path, clock, isFull }))
    if (run) runs.set(run.executionId, run)
    else rmSync(path, { recursive: true, force: true })
  }

  return {
    open(run) {
      runs.get(run.executionId)?.remove()
      const path = join(directory, folderName(run.executionId))
      rmSync(path, { recursive: true, force: true })
      const opened = createRunSpool(run, { directory: path, clock, isFull })
      runs.set(run.executionId, opened)
      return opened
    },
    get(executionId) {
      const run = runs.get(executionId)
      if (run?.isRemoved()) runs.delete(executionId)
      return run && !run.isRemoved() ? run : null
    },
    all() {
      for (const [id, run] of runs) if (run.isRemoved()) runs.delete(id)
      return [...runs.values()]
    },
  }
}

/** Ids of the platform are safe names; any other id is encoded, so that it stays in the folder. */
function folderName(executionId: string): string {
  return /^[A-Za-z0-9_-]{1,100}$/.test(executionId)
    ? executionId
    : `b64.${Buffer.from(executionId).toString('base64url').slice(0, 200)}`
}

function tryRecover(recover: () => RunSpool | null): RunSpool | null {
  try {
    return recover()
  } catch {
    return null
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
