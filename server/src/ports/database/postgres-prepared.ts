/**
 * Selects statements to prepare per connection, because parsing and planning cost as much as running. Texts
 * with literals or lists of varying length must not fill the server's memory. A text is prepared when it
 * occurs again among recent ones, up to a limit.
 */
export type Prepared = {
  /** Null: send the statement unprepared. */
  nameOf(text: string, parameters: readonly unknown[]): string | null
  /** Prepares all statements again under new names. */
  forget(): void
}

const maxPrepared = 300
const maxRecent = 300

export function createPrepared(): Prepared {
  const names = new Map<string, string>()
  const seenOnce = new Set<string>()
  let count = 0
  return {
    nameOf(text, parameters) {
      // Begin, commit and schema changes.
      if (parameters.length === 0) return null
      const known = names.get(text)
      if (known !== undefined) return known
      if (names.size >= maxPrepared) return null
      if (!seenOnce.delete(text)) {
        seenOnce.add(text)
        const [oldest] = seenOnce
        if (seenOnce.size > maxRecent && oldest !== undefined) seenOnce.delete(oldest)
        return null
      }
      count += 1
      const name = `roost_${count}`
      names.set(text, name)
      return name
    },
    forget: () => names.clear(),
  }
}

/** True when a newer version of the platform changed a table after the statement was prepared. */
export function isOutdated(error: unknown): boolean {
  return error instanceof Error && /cached plan must not change result type/.test(error.message)
}
