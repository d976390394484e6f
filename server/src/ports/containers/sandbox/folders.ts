import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContainerSpec } from '../port.ts'
import type { CgroupPlan } from './limits.ts'
import type { RestartPolicy } from './restart.ts'

/** Where an installation keeps its sandbox: everything the adapter and the supervisors say to each other is a file here. */
export type Folders = {
  root: string
  containers: string
  /** One file per taken name; its text is the container's id. */
  names: string
  volumes: string
  /** Seen by every agent at `/run/roost`; the platform's socket stands in it. */
  gateway: string
  /** The few files of /etc that agents see. */
  etc: string
  /** Holds the journal, alone, so that watching the folder is watching the journal. */
  journal: string
  compileCache: string
}

export function foldersOf(root: string): Folders {
  return {
    root,
    containers: join(root, 'containers'),
    names: join(root, 'names'),
    volumes: join(root, 'volumes'),
    gateway: join(root, 'run'),
    etc: join(root, 'etc'),
    journal: join(root, 'journal'),
    compileCache: join(root, 'cache'),
  }
}

/** Files of one container's folder. */
export const containerFiles = {
  spec: 'spec.json',
  launch: 'launch.json',
  state: 'state.json',
  supervisor: 'supervisor.json',
  stop: 'stop.json',
  log: 'log',
  tmp: 'tmp',
  devices: 'dev',
} as const

/** `spec.json`: what was asked for. It holds the agent's key, so only the owner may read it. */
export type StoredSpec = { id: string; createdAt: string; spec: ContainerSpec }

/** `launch.json`: what the supervisor runs, worked out anew at each start. */
export type Launch = {
  id: string
  /** A shell script that ends in bubblewrap; it expects bubblewrap's own arguments on descriptor 3. */
  script: string
  /** Arguments for bubblewrap, with the environment among them: read from a descriptor, they show in no process list. */
  bwrapArguments: string[]
  cgroups: CgroupPlan | null
  restart: RestartPolicy
  log: { maxBytes: number; files: number }
  journal: string
}

/** `state.json`: written by the supervisor alone, or for a dead one. */
export type StoredState = {
  /** How often the container was started. */
  runs: number
  status: 'running' | 'stopped'
  /** First process of the container's own process namespace, as numbered outside. */
  pid: number | null
  startedAt: string
  exitCode: number | null
  oomKilled: boolean
  /** Set between an end and the restart that the policy has planned. */
  restartAt: string | null
  /** Why it could not even be started. */
  error: string | null
}

/** `supervisor.json`: a process named for good. */
export type StoredSupervisor = { pid: number; startTicks: number }

/** `stop.json`: an ordered stop of one supervisor; it keeps that one's restart policy from acting, no later one's. */
export type StoredStop = { graceSeconds: number; supervisor: StoredSupervisor }

/** Null when the file is not there, half gone with its folder, or without its text after a power cut. */
export async function readJson<T>(path: string): Promise<T | null> {
  const text = await readFile(path, 'utf8').catch(() => '')
  try {
    // These files are written whole by this code only (see `writeJson`), so their shape is known.
    return JSON.parse(text) as T
  } catch {
    return null
  }
}

export function readJsonNow<T>(path: string): T | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch {
    return null
  }
}

/** Replaces the file in one step: a reader sees the old or the new text, never a part. */
export function writeJson(path: string, value: unknown): void {
  const fresh = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(fresh, JSON.stringify(value), { mode: 0o600 })
  renameSync(fresh, path)
}
