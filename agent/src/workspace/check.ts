import { checkWaitSeconds, maxCheckOutput, type RunCheckAnswer } from '@roost/contracts/link/check'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'
import { type Child, startChild, waitFor } from '../processes/child.ts'
import type { Environment } from '../processes/environment.ts'
import type { Identities } from '../processes/identity.ts'

export type CheckRequest = { id: string; command: string; seconds: number }

export type Checks = {
  /** Starts the check, or waits a while for the one with this id. Throws while another one runs. */
  run(request: CheckRequest): Promise<RunCheckAnswer>
}

export type ChecksOptions = {
  home: string
  environment(): Promise<Environment>
  identities: Identities
  clock: Pick<Clock, 'elapsed' | 'random'>
  /** Counts the command as something that may write, until the promise settles. */
  written<T>(work: Promise<T>): Promise<T>
  waitMs?: number
}

type Running = { id: string; startedAt: number; ended: Promise<void>; answer: RunCheckAnswer | null }

const unanswered = { exit_code: null, timed_out: false, output: '', truncated: false }

/** Runs one command of the platform at a time as the developer, with a limit for its time and its output. */
export function createChecks(options: ChecksOptions): Checks {
  const { home, identities, clock, waitMs = checkWaitSeconds * 1000 } = options
  let current: Running | null = null

  function start({ id, command, seconds }: CheckRequest): Running {
    const running: Running = { id, startedAt: clock.elapsed(), ended: Promise.resolve(), answer: null }
    running.ended = options.written(
      execute(command, seconds).then((answer) => {
        running.answer = answer
      }),
    )
    return running
  }

  async function execute(command: string, seconds: number): Promise<RunCheckAnswer> {
    const startedAt = clock.elapsed()
    const output = createTail()
    const child: Child | null = await startChild(
      {
        command: 'bash',
        args: ['-c', `exec 2>&1\n${command}`],
        env: await options.environment(),
        cwd: home,
        user: identities.developer,
        marker: `check-${clock.random()}`,
        onLine: ({ text }) => output.add(`${text}\n`),
        onError() {},
      },
      identities,
    ).catch(() => null)
    if (child) await waitFor(child.exited, seconds * 1000)
    // The end of its children and of its output takes longer.
    const isLate = child?.isRunning() ?? false
    const exit = await child?.finish(0)
    const duration = clock.elapsed() - startedAt
    return {
      state: 'ended',
      exit_code: isLate ? null : (exit?.code ?? null),
      timed_out: isLate,
      ...output.read(),
      duration_ms: Math.round(duration),
    }
  }

  return {
    async run(request) {
      if (current?.id !== request.id) {
        if (current && current.answer === null)
          throw new LinkFault('io_error', 'Another check of this workspace is running.')
        current = start(request)
      }
      const running = current
      await waitFor(running.ended, waitMs)
      const duration_ms = Math.round(clock.elapsed() - running.startedAt)
      return running.answer ?? { state: 'running', ...unanswered, duration_ms }
    },
  }
}

/** Keeps the end of the output, and never holds more than twice as much. */
function createTail() {
  let text = ''
  let isCut = false
  return {
    add(line: string): void {
      text += line
      if (text.length <= maxCheckOutput * 2) return
      text = text.slice(-maxCheckOutput)
      isCut = true
    },
    read: () => ({
      output: text.slice(-maxCheckOutput).toWellFormed(),
      truncated: isCut || text.length > maxCheckOutput,
    }),
  }
}
