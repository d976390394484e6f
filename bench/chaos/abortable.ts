const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export type Interruption = {
  /** What was seen so far is enough: it is judged and reported. */
  enough: AbortSignal
  /** Nothing is waited for any more but that all is taken away. */
  hurry: AbortSignal
  /** What went wrong where nobody waited for it. */
  faults: unknown[]
}

/** What ends the worker early: a first message or signal, a second one, the end of its keeper, a fault of its own. */
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
