/** What a process of the platform tells the one that supervises it. */
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

/** Null for what is none of them. */
export function readMessage(message: unknown): PlatformMessage | null {
  if (typeof message !== 'object' || message === null || !('type' in message)) return null
  const known = ['progress', 'ready', 'fatal'].includes(String(message.type))
  // Sent by our own processes of the same checkout; only the kind needs to be looked at.
  return known ? (message as PlatformMessage) : null
}

/** The exit code of a process whose configuration cannot work: starting it again would not help. */
export const exitConfig = 78
