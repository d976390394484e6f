const day = 24 * 3600 * 1000
export const authorityDays = 3650
/** So long before the last one ends the next is made, and agents begin to trust it. */
export const overlapDays = 365
/** An authority signs until so long before its end; by then every agent has greeted since the next was made. */
export const lastSigningDays = 90

/** Of one authority: what decides about its use. Of two the younger has the higher number. */
export type Lifetime = { id: number; until: Date }

/**
 * Which authority signs, which are trusted (the signing one among them), which are over, and whether the next is to be
 * made. Null: none signs, because there is none that has not ended.
 */
export function rolesOf<T extends Lifetime>(all: readonly T[], now: Date) {
  const left = ({ until }: Lifetime) => until.getTime() - now.getTime()
  const inOrder = all.toSorted((a, b) => a.id - b.id)
  const trusted = inOrder.filter((each) => left(each) > 0)
  const last = trusted.at(-1) ?? null
  return {
    signer: trusted.find((each) => left(each) > lastSigningDays * day) ?? last,
    trusted,
    over: inOrder.filter((each) => left(each) <= 0),
    isNextDue: last === null || left(last) <= overlapDays * day,
    nextId: (inOrder.at(-1)?.id ?? 0) + 1,
  }
}

/** Of what an authority signs; never longer than the authority itself. */
export function leafUntil(now: Date, days: number, { until }: Lifetime): Date {
  return new Date(Math.min(now.getTime() + days * day, until.getTime()))
}
