/**
 * Runs a benchmark and removes all its processes, folders, containers and volumes, whether it ends, fails or is
 * interrupted. The next benchmark removes the leftovers of a killed one.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { removeDeadSessions, removeSession } from '../../cli/src/testing/leftovers.ts'
import { currentSession, environmentOf, openSession, sessionVariable } from '../../cli/src/testing/session.ts'

export type KeepOptions = {
  /** Lets the worker end by itself: it gets the message `stop` for each of the first two signals. */
  isOrderly?: boolean
  /** A command line that starts the worker; the program and its arguments follow. */
  through?: readonly string[]
  /** Runs before the worker starts. */
  prepare?: () => Promise<void>
}

/** The exit code of a command that Ctrl-C ended. */
const interruptedCode = 130
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Call this first. It starts the program again as a worker, and returns only there. This process stays as the keeper:
 * it alone gets signals, and it removes the worker's resources.
 */
export async function keepBenchmark(options: KeepOptions = {}): Promise<void> {
  const session = currentSession()
  if (!session) return keep(options)
  // The keeper was killed. A separate process does the cleanup, because it also kills this one.
  process.once('disconnect', () => {
    const { [sessionVariable]: _, ...env } = process.env
    const remove = join(import.meta.dirname, 'remove.ts')
    spawn(process.execPath, [remove, session.id], { cwd: '/', env, detached: true, stdio: 'inherit' })
  })
  // The channel to the keeper must not keep a finished benchmark alive.
  process.channel?.unref()
}

async function keep({ isOrderly = false, through = [], prepare }: KeepOptions): Promise<never> {
  for (const id of await removeDeadSessions())
    console.error(`Removed the leftovers of the killed benchmark ${id}.`)
  await prepare?.()
  const session = await openSession()
  const interrupted = Promise.withResolvers<null>()
  let signalled = 0
  for (const signal of signals) {
    process.on(signal, () => {
      signalled += 1
      if (isOrderly && signalled <= 2 && child.connected) child.send('stop')
      else interrupted.resolve(null)
    })
  }
  const [command = '', ...args] = [
    ...through,
    process.execPath,
    ...process.execArgv,
    ...process.argv.slice(1),
  ]
  const child = spawn(command, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // Shields the worker from the terminal's signals.
    detached: true,
    env: { ...process.env, ...environmentOf(session) },
  })
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.once('exit', (code) => resolve(code ?? 1))
  })
  const code = await Promise.race([ended, interrupted.promise])
  await removeSession(session)
  process.exit(code ?? interruptedCode)
}
