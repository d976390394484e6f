import { ApiError, errorOf } from '@roost/contracts/client'
import { getExecution, streamExecution, terminateExecution } from '@roost/contracts/runs/executions'
import type { CommandContext } from './client-command.ts'
import { exitCodes } from './exit.ts'
import { plainText, time } from './output.ts'
import { createTurnPrinter, type Streamed } from './turn-printer.ts'

type Run = { name: string; id: string }

const succeeded = 'success'
/** Failed attempts in a row before the command stops following a broken stream. */
const maxAttempts = 20
const retryDelayMs = 1_000

/** For standard error, so that the output stays a list of lines. `at` is ISO 8601. */
export function removedNote(at: string): string {
  return `Retention removed the transcript of this execution at ${time(at)}.`
}

/** Prints the objects of a run as they arrive; returns its final status, or null when the stream broke off. */
export async function printRun(
  context: Pick<CommandContext, 'isJson' | 'spinner'>,
  objects: AsyncIterable<Record<string, unknown>>,
): Promise<string | null> {
  const { spinner } = context
  const printer = createTurnPrinter(
    (text) => {
      spinner.hide()
      process.stdout.write(text)
    },
    (text) => {
      spinner.hide()
      process.stderr.write(text)
    },
  )
  spinner.show('Waiting for the answer')
  try {
    for await (const received of objects) {
      if (context.isJson) console.log(JSON.stringify(received))
      // The printer ignores kinds of objects that this version does not know.
      const object = received as Streamed
      if (!context.isJson) printer.take(object)
      const tool = lastTool(object)
      if (tool !== null) spinner.show(`Running ${plainText(tool)}`)
      if (object.type === 'done' || object.type === 'stream_end') {
        const removedAt = received.log_removed_at
        spinner.hide()
        if (!context.isJson && typeof removedAt === 'string')
          process.stderr.write(`${removedNote(removedAt)}\n`)
        if (!context.isJson && typeof object.detail === 'string') process.stderr.write(`${object.detail}\n`)
        return object.status
      }
    }
    return null
  } finally {
    spinner.hide()
    if (!context.isJson) printer.end()
  }
}

/** The tool whose result the run waits for next; null for other objects. */
function lastTool(object: Streamed): string | null {
  if (object.type !== 'assistant' || object.parent_tool_use_id !== undefined) return null
  const block = object.message.content.at(-1)
  return block?.type === 'tool_use' ? block.name : null
}

/** Prints why a run failed. The stream of a run, unlike that of a turn, does not end with the reason. */
async function printReason({ api }: Pick<CommandContext, 'api'>, params: Run): Promise<void> {
  const { status, error, error_code } = await api.call(getExecution, { params })
  const code = error_code ? ` (${error_code})` : ''
  process.stderr.write(`${error ?? `The run is ${status}.`}${code}\n`)
}

export function exitCodeOf(status: string): number {
  return status === succeeded ? exitCodes.ok : exitCodes.failed
}

/** Follows a run to its end, across broken connections and platform restarts; returns the exit code. */
export async function followRun(context: CommandContext, run: Run): Promise<number> {
  let after = 0
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    try {
      const objects = events(context, run, after, (number) => {
        after = number
        attempt = 0
      })
      const status = await printRun(context, objects)
      if (status !== null) {
        if (status !== succeeded && !context.isJson) await printReason(context, run)
        return exitCodeOf(status)
      }
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) throw error
      if (attempt === maxAttempts - 1) throw error
    }
    await new Promise((done) => setTimeout(done, retryDelayMs))
  }
  return exitCodes.pending
}

/** Yields the objects of a run's server-sent events after line `after`; reports each line number to `onLine`. */
async function* events(
  { api }: Pick<CommandContext, 'api'>,
  { name, id }: Run,
  after: number,
  onLine: (line: number) => void,
): AsyncIterable<Record<string, unknown>> {
  const response = await api.open(streamExecution, {
    params: { name, id },
    query: { after: String(after), partials: 'true' },
  })
  if (!response.ok || !response.body) throw await errorOf(response)
  const decoder = new TextDecoder()
  let remainder = ''
  for await (const chunk of response.body) {
    const parts = (remainder + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n\n')
    remainder = parts.pop() ?? ''
    for (const part of parts) {
      const lines = part.split('\n')
      const number = lines
        .find((line) => line.startsWith('id:'))
        ?.slice(3)
        .trim()
      const data = lines.find((line) => line.startsWith('data:'))?.slice(5)
      if (data !== undefined) yield JSON.parse(data)
      if (number) onLine(Number(number))
    }
  }
}

/**
 * Runs `work`; Ctrl-C ends the run that `current` returns, if it is known by then. A second Ctrl-C exits
 * immediately, and the run continues.
 */
export async function stopRunOnInterrupt(
  context: Pick<CommandContext, 'api'>,
  current: () => Run | null,
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const interrupted = new AbortController()
  let interrupts = 0
  const onInterrupt = () => {
    interrupts += 1
    if (interrupts > 1) process.exit(exitCodes.interrupted)
    const run = current()
    process.stderr.write(run ? '\nStopping the run …\n' : '\n')
    const termination = run
      ? context.api.call(terminateExecution, { params: run }).catch(() => null)
      : Promise.resolve()
    void termination.finally(() => interrupted.abort())
  }
  process.on('SIGINT', onInterrupt)
  try {
    const code = await work(interrupted.signal)
    return interrupts > 0 ? exitCodes.interrupted : code
  } catch (error) {
    if (interrupts > 0) return exitCodes.interrupted
    throw error
  } finally {
    process.off('SIGINT', onInterrupt)
  }
}
