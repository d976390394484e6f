import { randomBytes } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'

/** A job cannot run or has failed; the message says why and what to do. */
export class VolumeJobError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'VolumeJobError'
  }
}

/**
 * Runs a program beside volumes of agents, in a short-lived container that sees nothing else. The platform's own user
 * cannot read these volumes. Adapters: a container engine, and the sandbox.
 */
export type VolumeJobs = {
  /** Returns why this engine runs no jobs, as sentences for people; null when it does. Starts nothing. */
  problem(): Promise<string | null>
  /** Provides the programs, and removes jobs of a process that was killed. Throws `VolumeJobError`. */
  prepare(onProgress: (text: string) => void, signal?: AbortSignal): Promise<void>
  /** Runs until the program ends. Throws `VolumeJobError` when it cannot start. */
  run(job: VolumeJob): Promise<JobResult>
}

export type VolumeJob = {
  /** A shell script. It may write below `/roost` and `/tmp`, and secrets below `/run`. Must contain no secret. */
  script: string
  /** Visible to this program only. No value may contain a line break. */
  env: Record<string, string>
  mounts: readonly JobMount[]
  hasNetwork: boolean
  /** Ends the job's input when absent. */
  input?: Readable
  /** Ended when the program ends; discarded when absent. */
  output?: Writable
  /** Kills the job when its standard error output matches: for programs that retry what cannot succeed. */
  failOn?: RegExp
  /** Kills the job. */
  signal?: AbortSignal
}

export type JobMount =
  | { type: 'volume'; volume: string; target: string; readOnly: boolean }
  | { type: 'folder'; source: string; target: string; readOnly: boolean }

/** `errors`: the last lines of the standard error output. */
export type JobResult = { code: number; errors: string[] }

/**
 * A new host name for each job. restic takes a lock of its own host for dead when it finds no such process, and a job
 * sees only its own processes.
 */
export function jobHostName(): string {
  return `roost-backup-${randomBytes(8).toString('hex')}`
}

/** Throws for a value that would become two variables. */
export function checkEnv(env: Record<string, string>): void {
  for (const [name, value] of Object.entries(env))
    if (/[\n\r\0]/.test(value)) throw new VolumeJobError(`${name} must not contain a line break.`)
}

/** Collects the last lines of a stream of text. */
export function lastLines(onText: (text: string) => void = () => {}, limit = 20) {
  let kept = ''
  return {
    take(text: string) {
      kept = (kept + text).slice(-8_000)
      onText(kept)
    },
    lines: () =>
      kept
        .split('\n')
        // Names of files can hold sequences that a terminal obeys.
        .map((line) => line.replaceAll(/\p{Cc}/gu, '?'))
        .filter((line) => line.trim() !== '')
        .slice(-limit),
  }
}
