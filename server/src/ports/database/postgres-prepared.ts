/**
 * Statements that come again are prepared, each connection once: to read and plan one costs the server as much as
 * to run it. Their texts are few; those with literals or with lists of changing length must not fill the server's
 * memory, so a text has to come twice among others, and there is an end to it.
 */
export type Prepared = {
  /** Null: sent as it is. */
  nameOf(text: string, parameters: readonly unknown[]): string | null
  /** What was prepared until now is prepared anew under other names. */
  forget(): void
}

const mostPrepared = 300
const mostSeen = 300

export function createPrepared(): Prepared {
  const names = new Map<string, string>()
  const seenOnce = new Set<string>()
  let made = 0
  return {
    nameOf(text, parameters) {
      // Begin, commit and changes of the schema.
      if (parameters.length === 0) return null
      const known = names.get(text)
      if (known !== undefined) return known
      if (names.size >= mostPrepared) return null
      if (!seenOnce.delete(text)) {
        seenOnce.add(text)
        const [oldest] = seenOnce
        if (seenOnce.size > mostSeen && oldest !== undefined) seenOnce.delete(oldest)
        return null
      }
      made += 1
      const name = `roost_${made}`
      names.set(text, name)
      return name
    },
    forget: () => names.clear(),
  }
}

/** A newer version of the platform has changed a table since the statement was prepared. */
export function isOutdated(error: unknown): boolean {
  return error instanceof Error && /cached plan must not change result type/.test(error.message)
}
