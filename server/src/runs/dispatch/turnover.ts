import type { ClaimAnswer, ResultAnswer } from '@roost/contracts/link/runs'
import type { RunContexts } from '../../agents/run-context/index.ts'
import type { Claimant, ClaimedRuns, createClaim } from './claim.ts'
import { type ClaimJoin, type Finished, type Reported, withoutClaim } from './finish.ts'

export type TurnoverDeps = {
  runContexts: Pick<RunContexts, 'find'>
  /** Returns false while skills or files are being delivered; the agent is woken afterwards. */
  mayBegin(agentId: string): boolean
  /** The principals whose runs the agent's program may get; null: all. */
  allowed(agentId: string): Promise<ReadonlySet<string | null> | null>
  /** Whether the workspace is recorded around runs. */
  isRecorded(agentId: string): Promise<boolean>
  /** For a recorded workspace. Returns false when no run may be claimed now. */
  mayClaim(agentId: string): Promise<boolean>
  claims: Pick<ReturnType<typeof createClaim>, 'claimRuns' | 'answer'>
  finish(agentId: string, reported: Reported, join: ClaimJoin): Promise<Finished>
}

export type Turnover = {
  result(agentId: string, reported: Reported): Promise<ResultAnswer>
  claim(agentId: string, free: number): Promise<ClaimAnswer>
}

/**
 * A claim that waits for results. `reply` resolves with its runs, or with null when it must claim by itself.
 */
type WaitingClaim = { agent: Claimant; free: number; reply: PromiseWithResolvers<ClaimedRuns | null> }
type Join = ClaimJoin & { leave(): WaitingClaim | null }
/** A result that is being stored. `isAwaited`: a claim follows it, so its end need not wake the agent. */
type OpenResult = { done: PromiseWithResolvers<void>; isAwaited: boolean }
/** `coming` counts results that a claim can still join. */
type Agent = { open: Set<OpenResult>; coming: number; claim: WaitingClaim | null }

/**
 * An agent sends a result and immediately the claim for the next run. The claim needs the slot that the
 * result frees, so one transaction handles both, which saves a commit and several database waits. A claim
 * that can join no result waits until the earlier results are stored.
 */
export function createTurnover(deps: TurnoverDeps): Turnover {
  const { runContexts, mayBegin, allowed, isRecorded, mayClaim, claims, finish } = deps
  const agents = new Map<string, Agent>()

  function enter(agentId: string, result: OpenResult): Agent {
    const agent = agents.get(agentId) ?? { open: new Set(), coming: 0, claim: null }
    agents.set(agentId, agent)
    agent.open.add(result)
    agent.coming += 1
    return agent
  }

  /** The last of several concurrent results takes the claim, because it sees the slots of all of them. */
  function joinOf(agent: Agent, result: OpenResult): Join {
    let isComing = true
    let held: WaitingClaim | null = null
    const pass = () => {
      if (isComing) agent.coming -= 1
      isComing = false
    }
    return {
      join() {
        pass()
        if (held || agent.coming > 0) return held
        held = agent.claim
        agent.claim = null
        return held
      },
      isWaiting: () => result.isAwaited || agent.claim !== null,
      leave() {
        pass()
        const left = held
        held = null
        return left
      },
    }
  }

  async function handleResult(agentId: string, reported: Reported, join: Join): Promise<ResultAnswer> {
    let claimed: ClaimedRuns | null = null
    let claim: WaitingClaim | null = null
    try {
      const finished = await finish(agentId, reported, join)
      claimed = finished.claimed
      return finished.answer
    } catch (error) {
      claim = join.leave()
      if (!claim) throw error
      // An error in the claim must not lose the result.
      return (await finish(agentId, reported, withoutClaim)).answer
    } finally {
      const waiting = claim ?? join.leave()
      waiting?.reply.resolve(claimed)
    }
  }

  return {
    async result(agentId, reported) {
      const result: OpenResult = { done: Promise.withResolvers(), isAwaited: false }
      const agent = enter(agentId, result)
      try {
        return await handleResult(agentId, reported, joinOf(agent, result))
      } finally {
        agent.open.delete(result)
        if (agent.open.size === 0 && agents.get(agentId) === agent) agents.delete(agentId)
        result.done.resolve()
      }
    },

    async claim(agentId, free) {
      const context = await runContexts.find(agentId)
      // A stopping agent ends its runs and starts no new ones.
      if (!context || context.status === 'stopped' || !mayBegin(agentId)) return { runs: [] }
      const agent = { ...context, only: await allowed(agentId) }
      if (await isRecorded(agentId)) {
        // The workspace is recorded between a result and the next run, so they cannot share a transaction.
        await stored(agents.get(agentId), { isFollowed: true })
        if (!(await mayClaim(agentId))) return { runs: [] }
        return claims.answer(agent, await claims.claimRuns(agent, free))
      }
      const claimed = await joinResult(agents.get(agentId), { agent, free })
      return claims.answer(agent, claimed ?? (await claims.claimRuns(agent, free)))
    },
  }
}

/** Resolves when all results that are open now are stored. `isFollowed`: the caller claims afterwards. */
async function stored(agent: Agent | undefined, { isFollowed = false } = {}): Promise<void> {
  const results = [...(agent?.open ?? [])]
  if (isFollowed) for (const result of results) result.isAwaited = true
  await Promise.all(results.map(({ done }) => done.promise))
}

/** Returns null when no result took the claim; the earlier results are stored then. */
async function joinResult(
  agent: Agent | undefined,
  request: Omit<WaitingClaim, 'reply'>,
): Promise<ClaimedRuns | null> {
  if (!agent) return null
  const earlier = stored(agent).then(() => null)
  if (agent.claim) return earlier
  const claim: WaitingClaim = { ...request, reply: Promise.withResolvers() }
  agent.claim = claim
  const claimed = await Promise.race([claim.reply.promise, earlier])
  if (claimed) return claimed
  // A result holds the claim and resolves it shortly.
  if (agent.claim !== claim) return claim.reply.promise
  agent.claim = null
  return null
}
