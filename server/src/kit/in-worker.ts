import type { Tinypool } from 'tinypool'

/** The text was not parsed: it takes too long, or the parser fails on it. */
export class TooComplex extends Error {}

/** Two threads, so that one slow text does not hold up the others. */
const threads = 2
const idleMs = 10_000
const memoryMb = 256

/**
 * Runs the function `name` of a module in a worker thread. For text that an agent or a stranger wrote, because parsing
 * it could block every other request. The result throws `TooComplex` when the function throws or needs longer than
 * `limitMs`, which includes the start of a thread. Threads start at the first call and end when idle.
 */
export function inWorker<T>(module: URL, name: string, limitMs = 5000): (text: string) => Promise<T> {
  let opened: Promise<Tinypool> | null = null
  let waiting: Promise<unknown>[] = Array.from({ length: threads }, () => Promise.resolve())

  async function work(text: string): Promise<T> {
    opened ??= open(module, name)
    const pool = await opened
    try {
      return await pool.run(text, { signal: AbortSignal.timeout(limitMs) })
    } catch (cause) {
      throw new TooComplex('The text could not be parsed within its limits.', { cause })
    }
  }

  return (text) => {
    // The limit of a text starts when a thread is free for it.
    const [first = Promise.resolve(), ...rest] = waiting
    const result = first.then(() => work(text))
    waiting = [...rest, result.catch(() => {})]
    return result
  }
}

/** The library is loaded with the first text. */
async function open(module: URL, name: string): Promise<Tinypool> {
  const { Tinypool } = await import('tinypool')
  return new Tinypool({
    filename: module.href,
    name,
    runtime: 'worker_threads',
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  })
}
