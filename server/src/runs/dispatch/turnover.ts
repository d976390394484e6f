import type { ClaimAnswer, ResultAnswer } from '@roost/contracts/link/runs'
import type { RunContext, RunContexts } from '../../agents/run-context/index.ts'
import type { createClaim, Taken } from './claim.ts'
import { alone, type Desk, type Finished, type Reported } from './finish.ts'

export type TurnoverDeps = {
  facts: Pick<RunContexts, 'find'>
  /** False: what its runs need is still on its way to it; it is woken when it may. */
  mayBegin(agentId: string): boolean
  claims: Pick<ReturnType<typeof createClaim>, 'take' | 'answer'>
  finish(agentId: string, reported: Reported, desk: Desk): Promise<Finished>
}

export type Turnover = {
  result(agentId: string, reported: Reported): Promise<ResultAnswer>
  claim(agentId: string, free: number): Promise<ClaimAnswer>
}

/** A claim that waits for results: what it is given, or null when it has to ask for itself. */
type Ask = { agent: RunContext; free: number; given: PromiseWithResolvers<Taken | null> }
/** `coming`: results that can still take a claim along. */
type Agent = { open: Set<Promise<unknown>>; coming: number; ask: Ask | null }

/**
 * An agent sends the result of a run and right behind it the claim for the next one. The claim has to see the
 * slot that the result frees, so it is dealt with in the same transaction; a commit, and several waits for the
 * database, are saved, and the next run arrives together with the answer to the result. A claim that finds no result that
 * could take it along waits until those that came before it are stored.
 */
export function createTurnover({ facts, mayBegin, claims, finish }: TurnoverDeps): Turnover {
  const agents = new Map<string, Agent>()

  function enter(agentId: string, done: Promise<unknown>): Agent {
    const agent = agents.get(agentId) ?? { open: new Set(), coming: 0, ask: null }
    agents.set(agentId, agent)
    agent.open.add(done)
    agent.coming += 1
    return agent
  }

  /** The last of several that end together takes the claim: it sees the slots of all of them. */
  function deskOf(agent: Agent): Desk & { leave(): Ask | null } {
    let isComing = true
    let held: Ask | null = null
    const pass = () => {
      if (isComing) agent.coming -= 1
      isComing = false
    }
    return {
      join() {
        pass()
        if (held || agent.coming > 0) return held
        held = agent.ask
        agent.ask = null
        return held
      },
      isAsked: () => agent.ask !== null,
      leave() {
        pass()
        const left = held
        held = null
        return left
      },
    }
  }

  async function takeResult(agentId: string, reported: Reported, agent: Agent): Promise<ResultAnswer> {
    const desk = deskOf(agent)
    let taken: Taken | null = null
    let ask: Ask | null = null
    try {
      const finished = await finish(agentId, reported, desk)
      taken = finished.taken
      return finished.answer
    } catch (error) {
      ask = desk.leave()
      if (!ask) throw error
      // What is wrong with the claim must not cost the result.
      return (await finish(agentId, reported, alone)).answer
    } finally {
      const waiting = ask ?? desk.leave()
      waiting?.given.resolve(taken)
    }
  }

  return {
    async result(agentId, reported) {
      const done = Promise.withResolvers<void>()
      const agent = enter(agentId, done.promise)
      try {
        return await takeResult(agentId, reported, agent)
      } finally {
        agent.open.delete(done.promise)
        if (agent.open.size === 0 && agents.get(agentId) === agent) agents.delete(agentId)
        done.resolve()
      }
    },

    async claim(agentId, free) {
      const fact = await facts.find(agentId)
      // An agent that is told to stop ends what it has and begins nothing.
      if (!fact || fact.status === 'stopped' || !mayBegin(agentId)) return { runs: [] }
      const given = await alongWith(agents.get(agentId), { agent: fact, free })
      return claims.answer(fact, given ?? (await claims.take(fact, free)))
    },
  }
}

/** Null: none took the claim along; those that came before it are stored. */
async function alongWith(agent: Agent | undefined, asked: Omit<Ask, 'given'>): Promise<Taken | null> {
  if (!agent) return null
  const stored = Promise.all(agent.open).then(() => null)
  if (agent.ask) return stored
  const ask: Ask = { ...asked, given: Promise.withResolvers() }
  agent.ask = ask
  const taken = await Promise.race([ask.given.promise, stored])
  if (taken) return taken
  // One of them holds it, and says so in a moment.
  if (agent.ask !== ask) return ask.given.promise
  agent.ask = null
  return null
}
