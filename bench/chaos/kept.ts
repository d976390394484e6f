import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Scenario } from './options.ts'

/** Where the process that does the work finds the folder of its engine; empty without one. */
const folderVariable = 'ROOST_CHAOS_FOLDER'

/**
 * Starts this program once more and keeps it: signals reach this process alone, and not the platform and the
 * services that the other one has started, which would fall apart before they could be taken away in order. Null:
 * this is the kept one; otherwise its exit code.
 *
 * With an engine of its own it gets a network, mounts and processes of its own as well: a second daemon on the
 * network of the first would take its bridge and its firewall rules away, and whatever the daemon has started is
 * gone with the last of them. That needs root.
 */
export async function runKept(scenario: Scenario): Promise<number | null> {
  if (process.env[folderVariable] !== undefined) return null
  if (scenario !== 'engine') return keep([], '')
  // Nothing can be fetched from in there.
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../server/src/start/images.ts')])
  const folder = await mkdtemp(join(tmpdir(), 'roost-chaos-engine-'))
  try {
    return await keep(apart, folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The shell stays: the first process of a namespace has to bury the others. */
const prepare =
  'ip link set lo up && mkdir -p /run/docker && mount -t tmpfs tmpfs /run/docker && "$@"; exit $?'
const apart = [
  ...['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
  ...['sh', '-c', prepare, 'sh'],
]

function keep(prefix: readonly string[], folder: string): Promise<number> {
  const [command = '', ...args] = [...prefix, process.execPath, ...process.argv.slice(1)]
  const child = spawn(command, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // Out of the terminal's reach.
    detached: true,
    env: { ...process.env, [folderVariable]: folder },
  })
  const stop = () => void (child.connected && child.send('stop'))
  for (const signal of signals) process.on(signal, stop)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Null: there is none of its own. */
export const engineFolder = (): string | null => process.env[folderVariable] || null

export type Interruption = {
  /** What was seen so far is enough: it is judged and reported. */
  enough: AbortSignal
  /** Nothing is waited for any more but that all is taken away. */
  hurry: AbortSignal
  /** What went wrong where nobody waited for it. */
  faults: unknown[]
}

/** What ends the kept process early: a first signal, a second one, the end of its keeper, a fault of its own. */
export function listenForInterruption(): Interruption {
  const [enough, hurry] = [new AbortController(), new AbortController()]
  const faults: unknown[] = []
  const stop = () => (enough.signal.aborted ? hurry.abort() : enough.abort())
  const abandon = () => {
    enough.abort()
    hurry.abort()
  }
  process.on('message', stop)
  process.on('disconnect', abandon)
  process.on('uncaughtException', (error) => {
    faults.push(error)
    abandon()
  })
  for (const signal of signals) process.on(signal, stop)
  return { enough: enough.signal, hurry: hurry.signal, faults }
}

/** `work`, unless it is given up first: then it rejects with the signal's reason. */
export async function unlessGivenUp<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const given = Promise.withResolvers<never>()
  const giveUp = () => given.reject(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([work, given.promise])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
