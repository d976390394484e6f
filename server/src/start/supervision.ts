/**
 * Messages from a process of the platform to its supervisor (`roost up`, if any). A process stops on SIGTERM,
 * SIGINT, or when the supervisor exits.
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

/** Exit code for an invalid configuration: a restart would not help (EX_CONFIG). */
export const exitConfig = 78

export function sendMessage(message: ProcessMessage): void {
  if (process.send) {
    process.send(message, () => {})
    return
  }
  if (message.type === 'progress') console.log(message.text)
  if (message.type === 'ready') console.log(`Roost is ready at ${message.url}`)
  if (message.type === 'fatal') console.error(message.reason)
}

/** Resolves once, with the reason for the stop. A second signal ends the process immediately. */
export function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    let isRequested = false
    const request = (reason: string) => {
      if (isRequested) process.exit(130)
      isRequested = true
      resolve(reason)
    }
    process.on('SIGTERM', () => request('SIGTERM'))
    process.on('SIGINT', () => request('SIGINT'))
    if (process.send) process.on('disconnect', () => request('the supervisor exited'))
  })
}

/** Ends this process with a reason for the operator. */
export function fail(reason: string, code = 1): never {
  sendMessage({ type: 'fatal', reason })
  if (process.send) console.error(reason)
  process.exit(code)
}
