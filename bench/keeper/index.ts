/**
 * Runs a benchmark so that nothing of it stays: no process, folder, container or volume, whether it ends, fails, is
 * interrupted or killed. What a killed one has left, the next benchmark of any kind removes.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { removeDeadSessions, removeSession } from './leftovers.ts'
import { currentSession, environmentOf, openSession, sessionVariable } from './session.ts'

export type KeepOptions = {
  /** Gives the worker time for an end of its own: it gets the message `stop` for each of the first two signals. */
  isOrderly?: boolean
  /** A command line that starts the worker; the program and its arguments follow. */
  through?: readonly string[]
  /** Done before the worker is started. */
  prepare?: () => Promise<void>
}

/** As a shell reports a command that Ctrl-C has ended. */
const interruptedCode = 130
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Call it first. The program is started once more, as a worker, and only there the call returns. This process stays as
 * the keeper: signals reach it alone, and it removes what the worker has made.
 */
export async function keepBenchmark(options: KeepOptions = {}): Promise<void> {
  const session = currentSession()
  if (!session) return keep(options)
  // The keeper was killed. A process of its own takes its place, whatever becomes of this one.
  process.once('disconnect', () => {
    const { [sessionVariable]: _, ...env } = process.env
    const remove = join(import.meta.dirname, 'remove.ts')
    spawn(process.execPath, [remove, session.id], { cwd: '/', env, detached: true, stdio: 'inherit' })
  })
  // A benchmark that has done its work ends, although its keeper still listens.
  process.channel?.unref()
}

async function keep({ isOrderly = false, through = [], prepare }: KeepOptions): Promise<never> {
  for (const id of await removeDeadSessions())
    console.error(`Removed what the killed benchmark ${id} had left.`)
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
    // Out of the reach of the terminal's signals.
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
