import type { Caller } from '../identity/access/caller.ts'

/** A reply that is still being given to somebody who was admitted. */
export type Admission = {
  /** Absent for somebody without a session or a key, whose token is a feature's own. */
  caller?: Caller
  /** Null for a reply that is about no agent. */
  agent: { id: string; name: string } | null
  /** Asks the guard once more, under the agent's present name. Rejects when the caller is refused now. */
  ask(agentName: string | undefined): Promise<unknown>
  /** The caller may not have the rest, for this reason. */
  end(why: unknown): void
}

/**
 * Replies that take long, a stream or a wait, were admitted once and would outlive the access: they are kept
 * here while they last and asked for again when somebody may have lost it.
 */
export type AccessRevocation = {
  /** How often access was lost so far. Read it before the guard is asked. */
  revocationEpoch(): number
  /** `losses`: as it was before the guard admitted; one that came meanwhile is asked for. Call the result at the end. */
  watch(admission: Admission, revocationEpoch: number): () => void
  /** Somebody may have lost access to this agent; `name` is its name by now. */
  recheck(agent: { id: string; name: string }): void
  /** These callers may not be what they were: suspended, demoted, signed out, their key revoked. */
  recheckCallers(isTouched: (caller: Caller) => boolean): void
}

export function createAccessRevocation(): AccessRevocation {
  const open = new Set<Admission>()
  let lost = 0

  function check(admission: Admission, agentName: string | undefined): void {
    // Fails closed: a caller that nobody can check any more is let go and may ask again.
    admission.ask(agentName).catch((why: unknown) => {
      if (open.delete(admission)) admission.end(why)
    })
  }

  return {
    revocationEpoch: () => lost,
    watch(admission, revocationEpoch) {
      open.add(admission)
      if (revocationEpoch !== lost) check(admission, admission.agent?.name)
      return () => void open.delete(admission)
    },
    recheck({ id, name }) {
      lost += 1
      for (const admission of open) {
        if (admission.agent?.id !== id) continue
        // Later doubts that are not about the agent ask under the name it has by then.
        admission.agent = { id, name }
        check(admission, name)
      }
    },
    recheckCallers(isTouched) {
      lost += 1
      for (const admission of open)
        if (admission.caller && isTouched(admission.caller)) check(admission, admission.agent?.name)
    },
  }
}
