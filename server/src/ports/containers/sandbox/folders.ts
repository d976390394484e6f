import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContainerSpec } from '../port.ts'
import type { CgroupPlan } from './limits.ts'
import type { RestartPolicy } from './restart.ts'

/**
 * The folders of an installation's sandbox. The adapter and the supervisors communicate only through files
 * here.
 */
export type Folders = {
  root: string
  containers: string
  /** One file per used name; it contains the container's id. */
  names: string
  volumes: string
  /** Mounted in every agent at `/run/roost`; contains the platform's socket. */
  gateway: string
  /** Files of /etc for agents. */
  etc: string
  /** Contains only the journal, so that the folder can be watched. */
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

/** Files in a container's folder. */
export const containerFiles = {
  spec: 'spec.json',
  launch: 'launch.json',
  state: 'state.json',
  supervisor: 'supervisor.json',
  stop: 'stop.json',
  log: 'log',
  tmp: 'tmp',
  devices: 'dev',
  homes: 'homes',
} as const

/** `spec.json`: the requested spec. Contains the agent's key, so only the owner may read it. */
export type StoredSpec = { id: string; createdAt: string; spec: ContainerSpec }

/** `launch.json`: what the supervisor runs, computed at each start. */
export type Launch = {
  id: string
  /** A shell script that ends with bubblewrap, which reads its arguments from descriptor 3. */
  script: string
  /** Arguments and environment for bubblewrap. Passed through a descriptor, so no process list shows them. */
  bwrapArguments: string[]
  cgroups: CgroupPlan | null
  restart: RestartPolicy
  log: { maxBytes: number; files: number }
  journal: string
}

/** `state.json`: written only by the supervisor, or on behalf of a dead one. */
export type StoredState = {
  /** Number of starts. */
  runs: number
  status: 'running' | 'stopped'
  /** First process of the container's process namespace, as numbered outside. */
  pid: number | null
  startedAt: string
  exitCode: number | null
  oomKilled: boolean
  /** Set between an end and the planned restart. */
  restartAt: string | null
  /** Why the start failed. */
  error: string | null
}

/** `supervisor.json`: identifies the supervisor's process. */
export type StoredSupervisor = { pid: number; startTicks: number }

/**
 * `stop.json`: a requested stop of one supervisor. Suppresses that one's restart policy, but no later one's.
 */
export type StoredStop = { graceSeconds: number; supervisor: StoredSupervisor }

/** Null when the file is missing, is being deleted with its folder, or is empty after a power failure. */
export async function readJson<T>(path: string): Promise<T | null> {
  const text = await readFile(path, 'utf8').catch(() => '')
  try {
    // Only `writeJson` writes these files, so their shape is known.
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

/** Replaces the file atomically. */
export function writeJson(path: string, value: unknown): void {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 })
  renameSync(temporary, path)
}
