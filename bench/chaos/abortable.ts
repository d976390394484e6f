const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export type Interruption = {
  /** Stop breaking things, then judge and report the results so far. */
  enough: AbortSignal
  /** Skip everything except the cleanup. */
  hurry: AbortSignal
  /** Uncaught errors. */
  faults: unknown[]
}

/** Listens for messages and signals (first: `enough`, second: `hurry`), the end of the keeper, and uncaught errors. */
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

/** Returns the result of `work`, or rejects with the signal's reason if that comes first. */
export async function unlessGivenUp<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const giveUp = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
