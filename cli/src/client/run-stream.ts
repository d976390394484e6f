import { ApiError, errorOf } from '@roost/contracts/client'
import { getExecution, streamExecution, terminateExecution } from '@roost/contracts/runs/executions'
import type { Asked } from './client-command.ts'
import { exitCodes } from './exit.ts'
import { createTurnPrinter, type Streamed } from './turn-printer.ts'

type Run = { name: string; id: string }

const succeeded = 'success'
/** How often a broken stream is taken up again before it is given up. */
const mostAttempts = 20
const pauseMs = 1_000

/** Prints objects of a run as they come; answers the status it ended with, null when the stream broke off. */
export async function printRun(
  asked: Pick<Asked, 'isJson'>,
  objects: AsyncIterable<Record<string, unknown>>,
): Promise<string | null> {
  const printer = createTurnPrinter(
    (text) => process.stdout.write(text),
    (text) => process.stderr.write(text),
  )
  try {
    for await (const loose of objects) {
      if (asked.isJson) console.log(JSON.stringify(loose))
      // Objects of a kind that this version does not know are passed over by the printer.
      const object = loose as Streamed
      if (!asked.isJson) printer.take(object)
      if (object.type === 'done' || object.type === 'stream_end') {
        if (!asked.isJson && typeof object.detail === 'string') process.stderr.write(`${object.detail}\n`)
        return object.status
      }
    }
    return null
  } finally {
    if (!asked.isJson) printer.end()
  }
}

/** A turn tells why it failed at its end; a run is asked. */
async function tellWhy({ api }: Pick<Asked, 'api'>, params: Run): Promise<void> {
  const { status, error, error_code } = await api.call(getExecution, { params })
  const code = error_code ? ` (${error_code})` : ''
  process.stderr.write(`${error ?? `The run is ${status}.`}${code}\n`)
}

export function exitCodeOf(status: string): number {
  return status === succeeded ? exitCodes.ok : exitCodes.failed
}

/** Follows a run to its end, over broken connections and a platform that starts again; its exit code. */
export async function followRun(asked: Asked, run: Run): Promise<number> {
  let after = 0
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    try {
      const objects = events(asked, run, after, (number) => {
        after = number
        attempt = 0
      })
      const status = await printRun(asked, objects)
      if (status !== null) {
        if (status !== succeeded && !asked.isJson) await tellWhy(asked, run)
        return exitCodeOf(status)
      }
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) throw error
      if (attempt === mostAttempts - 1) throw error
    }
    await new Promise((done) => setTimeout(done, pauseMs))
  }
  return exitCodes.pending
}

/** The objects of the server-sent events of a run, behind the line `after`. */
async function* events(
  { api }: Pick<Asked, 'api'>,
  { name, id }: Run,
  after: number,
  reached: (line: number) => void,
): AsyncIterable<Record<string, unknown>> {
  const response = await api.open(streamExecution, {
    params: { name, id },
    query: { after: String(after), partials: 'true' },
  })
  if (!response.ok || !response.body) throw await errorOf(response)
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of response.body) {
    const parts = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const lines = part.split('\n')
      const number = lines
        .find((line) => line.startsWith('id:'))
        ?.slice(3)
        .trim()
      const data = lines.find((line) => line.startsWith('data:'))?.slice(5)
      if (data !== undefined) yield JSON.parse(data)
      if (number) reached(Number(number))
    }
  }
}

/**
 * Runs `work` with Ctrl-C meaning: end the run that `current` names, once it is known. A second Ctrl-C leaves
 * at once, and the run goes on.
 */
export async function endingOnInterrupt(
  asked: Pick<Asked, 'api'>,
  current: () => Run | null,
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const interrupted = new AbortController()
  let presses = 0
  const press = () => {
    presses += 1
    if (presses > 1) process.exit(exitCodes.interrupted)
    const run = current()
    process.stderr.write(run ? '\nStopping the run …\n' : '\n')
    const ended = run
      ? asked.api.call(terminateExecution, { params: run }).catch(() => null)
      : Promise.resolve()
    void ended.finally(() => interrupted.abort())
  }
  process.on('SIGINT', press)
  try {
    const code = await work(interrupted.signal)
    return presses > 0 ? exitCodes.interrupted : code
  } catch (error) {
    if (presses > 0) return exitCodes.interrupted
    throw error
  } finally {
    process.off('SIGINT', press)
  }
}
