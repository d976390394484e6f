/** A message from a process of the platform to its supervisor. */
export type PlatformMessage =
  | { type: 'progress'; text: string }
  | ReadyMessage
  | { type: 'fatal'; reason: string }

export type ReadyMessage = {
  type: 'ready'
  url: string
  docs_url: string
  setup_completed: boolean
  /** The container engine in a few words. */
  containers: string
  notices: string[]
}

/** Returns null for anything else. */
export function readMessage(message: unknown): PlatformMessage | null {
  if (typeof message !== 'object' || message === null || !('type' in message)) return null
  const isKnown = ['progress', 'ready', 'fatal'].includes(String(message.type))
  // The sender is a process of the same checkout, so checking the type is enough.
  return isKnown ? (message as PlatformMessage) : null
}

/** The exit code of a process with an invalid configuration; restarting it would not help. */
export const exitConfig = 78
