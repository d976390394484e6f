/** A reply that is still being given to somebody who was admitted to an agent. */
export type Admission = {
  agent: { id: string; name: string }
  /** Asks the guard once more, under the agent's present name. Rejects when the caller is refused now. */
  ask(agentName: string): Promise<unknown>
  /** The caller may not have the rest. */
  end(): void
}

/**
 * Replies that take long, a stream or a wait, were admitted once and would outlive the access: they are kept
 * here while they last and asked for again when somebody may have lost it.
 */
export type Standing = {
  /** How often access was lost so far. Read it before the guard is asked. */
  losses(): number
  /** `losses`: as it was before the guard admitted; one that came meanwhile is asked for. Call the result at the end. */
  watch(admission: Admission, losses: number): () => void
  /** Somebody may have lost access to this agent; `name` is its name by now. */
  doubt(agent: { id: string; name: string }): void
}

export function createStanding(): Standing {
  const open = new Set<Admission>()
  let lost = 0

  function check(admission: Admission, agentName: string): void {
    // Fails closed: a caller that nobody can check any more is let go and may ask again.
    admission.ask(agentName).catch(() => {
      if (open.delete(admission)) admission.end()
    })
  }

  return {
    losses: () => lost,
    watch(admission, losses) {
      open.add(admission)
      if (losses !== lost) check(admission, admission.agent.name)
      return () => void open.delete(admission)
    },
    doubt({ id, name }) {
      lost += 1
      for (const admission of open) if (admission.agent.id === id) check(admission, name)
    },
  }
}
