/** An event as it was told: when its transaction began, and the agents it names. */
export type Sent = { begun: number; agents: string[] }

type Span = {
  /** From here on access was possible, and certain. */
  possibleFrom: number
  certainFrom: number
  /** Until here access was certain, and possible. */
  certainUntil: number
  possibleUntil: number
}

/**
 * Who could reach what, when, by a count of steps that only grows. A change takes some steps: while it is
 * being made access is possible and not certain.
 */
export function createTimeline() {
  let step = 0
  const spans = new Map<string, Span[]>()
  const of = (user: string, agent: string) => {
    const key = `${user} ${agent}`
    const known = spans.get(key) ?? []
    spans.set(key, known)
    return known
  }
  const tick = () => ++step

  return {
    tick,
    /** Call before a grant, and the answer after it. */
    granting(user: string, agent: string): () => void {
      const span: Span = {
        possibleFrom: tick(),
        certainFrom: Number.POSITIVE_INFINITY,
        certainUntil: Number.POSITIVE_INFINITY,
        possibleUntil: Number.POSITIVE_INFINITY,
      }
      of(user, agent).push(span)
      return () => {
        span.certainFrom = tick()
      }
    },
    withdrawing(user: string, agent: string): () => void {
      const span = of(user, agent).at(-1)
      if (span) span.certainUntil = tick()
      return () => {
        if (span) span.possibleUntil = tick()
      }
    },
    isOn(user: string, agent: string): boolean {
      return of(user, agent).at(-1)?.certainUntil === Number.POSITIVE_INFINITY
    },
    /** Whether there was a moment between the two at which all of them may have been in reach. */
    mayReach(user: string, agents: string[], from: number, until: number): boolean {
      const begins = agents.flatMap((agent) => of(user, agent).map((span) => span.possibleFrom))
      return [from, ...begins]
        .filter((moment) => moment >= from && moment <= until)
        .some((moment) =>
          agents.every((agent) =>
            of(user, agent).some((span) => span.possibleFrom <= moment && moment <= span.possibleUntil),
          ),
        )
    },
    /** Whether all of them were certainly in reach at that step and ever since. */
    reachedSince(user: string, agents: string[], since: number): boolean {
      return agents.every((agent) => {
        const last = of(user, agent).at(-1)
        return (
          last !== undefined && last.certainFrom < since && last.certainUntil === Number.POSITIVE_INFINITY
        )
      })
    },
  }
}
