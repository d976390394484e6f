/** A sent event: the step at the start of its transaction, and its agents. */
export type Sent = { begun: number; agents: string[] }

type Span = {
  /** Steps from which access was possible, and certain. */
  possibleFrom: number
  certainFrom: number
  /** Steps until which access was certain, and possible. */
  certainUntil: number
  possibleUntil: number
}

/**
 * Records access over time, in steps that only increase. A change takes several steps, during which access is possible
 * but not certain.
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
    /** Call before a grant; call the result after it. */
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
    /** True if access to all of them was possible at one step of the range. */
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
    /** True if access to all of them was certain from that step on. */
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
