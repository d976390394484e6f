/** The scheduler as `roost up` starts it: a separate process. */
import { type ChildProcess, fork } from 'node:child_process'
import { join, resolve } from 'node:path'
import { leanEnvironment, leanHeap } from '../../cli/src/platform/lean-process.ts'
import { processEnvironment } from '../../cli/src/platform/process-environment.ts'
import type { Platform } from './platform.ts'

const root = resolve(import.meta.dirname, '../..')

export type SchedulerProcess = AsyncDisposable & {
  pid(): number
  /** Kills it without a shutdown. */
  kill(): Promise<void>
  /** Its output and error streams. */
  output(): string
}

export async function startScheduler(platform: Pick<Platform, 'env'>): Promise<SchedulerProcess> {
  const child = fork(join(root, 'server/src/start/scheduler.ts'), [], {
    // The same environment as with `roost up`.
    env: { ...leanEnvironment(root), ...(await processEnvironment('scheduler', platform.env)) },
    cwd: root,
    execArgv: leanHeap,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk
    })
  }
  await new Promise<void>((done, refuse) => {
    child.on('message', (message: { type?: string }) => {
      if (message.type === 'ready') done()
    })
    child.once('exit', (code) =>
      refuse(new Error(`the scheduler ended with ${code}:\n${output.slice(-4000)}`)),
    )
  })
  return {
    pid: () => child.pid ?? 0,
    output: () => output,
    kill: () => end(child, 'SIGKILL'),
    [Symbol.asyncDispose]: () => end(child, 'SIGTERM'),
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((done) => child.once('exit', done))
  child.kill(signal)
  await ended
}
