/**
 * What a process of the platform says to the one that supervises it (`roost up`, or nobody), and how it is
 * told to stop: SIGTERM, SIGINT, or the supervisor going away.
 */
export type ProcessMessage =
  | { type: 'progress'; text: string }
  | {
      type: 'ready'
      url: string
      docs_url: string
      setup_completed: boolean
      containers: string
      notices: string[]
    }
  | { type: 'fatal'; reason: string }

/** Exit code for a configuration that cannot work: starting again would not help (EX_CONFIG). */
export const exitConfig = 78

export function tell(message: ProcessMessage): void {
  if (process.send) {
    process.send(message, () => {})
    return
  }
  if (message.type === 'progress') console.log(message.text)
  if (message.type === 'ready') console.log(`Roost is ready at ${message.url}`)
  if (message.type === 'fatal') console.error(message.reason)
}

/** Resolves once, with what asked for the stop. A second signal ends the process at once. */
export function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false
    const ask = (why: string) => {
      if (asked) process.exit(130)
      asked = true
      resolve(why)
    }
    process.on('SIGTERM', () => ask('SIGTERM'))
    process.on('SIGINT', () => ask('SIGINT'))
    if (process.send) process.on('disconnect', () => ask('the supervisor is gone'))
  })
}

/** Ends this process with a reason that a person can act on. */
export function fail(reason: string, code = 1): never {
  tell({ type: 'fatal', reason })
  if (process.send) console.error(reason)
  process.exit(code)
}
