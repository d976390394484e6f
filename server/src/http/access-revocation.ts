import type { Caller } from '../identity/access/caller.ts'

/** A running response to an admitted caller. */
export type Admission = {
  /** Absent for a caller with a feature's own token instead of a session or key. */
  caller?: Caller
  /** Null for a response without an agent. */
  agent: { id: string; name: string } | null
  /** Runs the guard again with the agent's current name. Rejects if the caller is refused now. */
  ask(agentName: string | undefined): Promise<unknown>
  /** Ends the response for this reason. */
  end(reason: unknown): void
}

/** Tracks long responses (streams and waits) and checks them again when their caller may have lost access. */
export type AccessRevocation = {
  /** Counts the losses of access so far. Read it before the guard runs. */
  revocationEpoch(): number
  /** Checks immediately if access was lost since `revocationEpoch`. Call the result at the end. */
  watch(admission: Admission, revocationEpoch: number): () => void
  /** Call when a caller may have lost access to this agent; `name` is its current name. */
  recheck(agent: { id: string; name: string }): void
  /** Call when callers may have been suspended, demoted or signed out, or their key revoked. */
  recheckCallers(isTouched: (caller: Caller) => boolean): void
}

export function createAccessRevocation(): AccessRevocation {
  const open = new Set<Admission>()
  let epoch = 0

  function check(admission: Admission, agentName: string | undefined): void {
    // Fails closed: if the check itself fails, the response ends and the client may retry.
    admission.ask(agentName).catch((reason: unknown) => {
      if (open.delete(admission)) admission.end(reason)
    })
  }

  return {
    revocationEpoch: () => epoch,
    watch(admission, revocationEpoch) {
      open.add(admission)
      if (revocationEpoch !== epoch) check(admission, admission.agent?.name)
      return () => void open.delete(admission)
    },
    recheck({ id, name }) {
      epoch += 1
      for (const admission of open) {
        if (admission.agent?.id !== id) continue
        // Later checks use the new name.
        admission.agent = { id, name }
        check(admission, name)
      }
    },
    recheckCallers(isTouched) {
      epoch += 1
      for (const admission of open)
        if (admission.caller && isTouched(admission.caller)) check(admission, admission.agent?.name)
    },
  }
}
