const day = 24 * 3600 * 1000
export const authorityDays = 3650
/** How long before its end the next authority is created and agents begin to trust it. */
export const overlapDays = 365
/**
 * An authority stops signing this long before its end; by then every agent has reconnected since the next one
 * exists.
 */
export const lastSigningDays = 90

/** The properties of an authority that determine its use. Newer authorities have higher ids. */
export type Lifetime = { id: number; until: Date }

/**
 * Determines which authority signs, which are trusted (including the signer), which have expired, and whether
 * the next one is due. Without an unexpired authority the signer is null.
 */
export function rolesOf<T extends Lifetime>(all: readonly T[], now: Date) {
  const remainingMs = ({ until }: Lifetime) => until.getTime() - now.getTime()
  const sorted = all.toSorted((a, b) => a.id - b.id)
  const trusted = sorted.filter((each) => remainingMs(each) > 0)
  const last = trusted.at(-1) ?? null
  return {
    signer: trusted.find((each) => remainingMs(each) > lastSigningDays * day) ?? last,
    trusted,
    over: sorted.filter((each) => remainingMs(each) <= 0),
    isNextDue: last === null || remainingMs(last) <= overlapDays * day,
    nextId: (sorted.at(-1)?.id ?? 0) + 1,
  }
}

/** End of a leaf certificate; never later than its authority's end. */
export function leafUntil(now: Date, days: number, { until }: Lifetime): Date {
  return new Date(Math.min(now.getTime() + days * day, until.getTime()))
}
