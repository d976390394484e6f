import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { Leases } from '../../foundation/leases/index.ts'
import { newId } from '../../kit/ids.ts'
import { type AgentLink, LinkDown, LinkTimeout } from '../../ports/agent-link/port.ts'
import type { Log } from '../../ports/log.ts'
import { assignmentStore } from '../assignments/index.ts'
import type { Outcome } from './outcome.ts'
import { createReconcile, type ReconcileDeps, type Reconciled, WorkspaceUnreadable } from './reconcile.ts'
import { deliveryWaitSeconds } from './rules.ts'

export type AttemptDeps = ReconcileDeps & {
  log: Pick<Log, 'debug' | 'warn'>
  leases: Pick<Leases, 'take' | 'renew' | 'release'>
  agentRecords: Pick<AgentRecords, 'byId'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  /** What the engine has of an agent's container now; null: it cannot be asked. */
  containerNow(agent: Agent): Promise<'running' | 'stopped' | null>
  /** Aborts when the platform stops: nobody waits for other workers any more. */
  closing: AbortSignal
}

export type Attempt = (agentId: string, options?: { force?: boolean }) => Promise<Outcome>

const leaseSeconds = 120
/** An assign on an agent that is being brought in line is tried once more after this. */
const retryMs = 3000
/** A container that was started a moment ago dials in within seconds. */
const startingMs = 60_000
const mostRounds = 3

/** A worker of another process is looked for so often. */
const lookEveryMs = 500

/** This process is at it, and will end. */
type BusyHere = { kind: 'busy'; here: Promise<unknown> }

export type Attempts = {
  attempt: Attempt
  /** Once more when somebody else is at it: that one may have read what was assigned before. */
  attemptTwice: Attempt
  /** As often as somebody else is at it, for 20 seconds: what is told then was looked at after the call. */
  attemptAfterOthers: Attempt
}

/** One attempt to bring an agent in line; one worker at a time has an agent. What went wrong is a value. */
export function createAttempt(deps: AttemptDeps): Attempts {
  const { db, clock, log, leases, agentRecords, link, closing } = deps
  const reconcile = createReconcile(deps)
  /** The agents that this process is at. */
  const atWork = new Map<string, Promise<Outcome>>()

  async function attempt(agentId: string, options: { force?: boolean } = {}): Promise<Outcome | BusyHere> {
    const agent = await agentRecords.byId(agentId)
    if (!agent || agent.desired === 'stopped') return { kind: 'stopped' }
    // Its program answers before the row says that it runs.
    if (!link.isConnected(agentId)) return { kind: await whyAway(agent) }
    const here = atWork.get(agentId)
    if (here) return { kind: 'busy', here }
    const work = whileHeld(agent, options)
    atWork.set(agentId, work)
    return work.finally(() => atWork.delete(agentId))
  }

  async function whileHeld(agent: Agent, options: { force?: boolean }): Promise<Outcome> {
    const lease = await leases.take(`skills.agent:${agent.id}`, newId(), leaseSeconds)
    if (!lease) return { kind: 'busy' }
    const keepHold = async () => {
      if (!(await leases.renew(lease, leaseSeconds))) throw new LinkDown('Another worker has the agent.')
    }
    try {
      return { kind: 'done', reconciled: await inRounds(agent, { ...options, keepHold }) }
    } catch (error) {
      if (error instanceof LinkDown || error instanceof LinkTimeout) return { kind: 'unreachable' }
      log.warn({ err: error, agent_id: agent.id }, 'skills could not be delivered; it is tried again')
      return { kind: error instanceof WorkspaceUnreadable ? 'unreadable' : 'failed' }
    } finally {
      await leases.release(lease)
    }
  }

  async function inRounds(
    agent: Agent,
    options: { force?: boolean; keepHold(): Promise<void> },
  ): Promise<Reconciled> {
    let reconciled = await reconcile(agent, options)
    // What was assigned meanwhile found the agent held.
    for (let round = 1; round < mostRounds && (await isUnfinished(agent.id)); round += 1) {
      const more = await reconcile(agent, { keepHold: options.keepHold })
      reconciled = {
        results: { ...reconciled.results, ...newsOf(more.results) },
        removals: { ...reconciled.removals, ...more.removals },
        stale: more.stale,
      }
    }
    return reconciled
  }

  async function isUnfinished(agentId: string): Promise<boolean> {
    const store = assignmentStore(db)
    const rows = await store.of(agentId)
    if (rows.some(({ delivery_status }) => delivery_status === 'pending')) return true
    return (await store.removals(agentId)).length > 0
  }

  async function whyAway(agent: Agent): Promise<'stopped' | 'starting' | 'unreachable' | 'unreadable'> {
    if (agent.status !== 'running') return 'stopped'
    const startedAt = agent.started_at === null ? 0 : Date.parse(agent.started_at)
    if (clock.now().getTime() - startedAt < startingMs) return 'starting'
    // The row says what was heard last; an agent that is away is worth a question.
    switch (await deps.containerNow(agent)) {
      case 'running':
        return 'unreachable'
      case 'stopped':
        return 'stopped'
      case null:
        return 'unreadable'
    }
  }

  return {
    attempt,
    async attemptTwice(agentId, options) {
      const first = await attempt(agentId, options)
      if (first.kind !== 'busy') return first
      await clock.wait(retryMs, closing)
      return attempt(agentId, options)
    },
    async attemptAfterOthers(agentId, options) {
      const giveUpAt = clock.now().getTime() + deliveryWaitSeconds * 1000
      for (;;) {
        const outcome = await attempt(agentId, options)
        const isOver = closing.aborted || clock.now().getTime() >= giveUpAt
        if (outcome.kind !== 'busy' || isOver) return outcome
        // How that one ended is told to whoever asked for it.
        if ('here' in outcome) await outcome.here.catch(() => {})
        else await clock.wait(lookEveryMs, closing)
      }
    },
  }
}

/** What a later round found as it was says nothing new. */
function newsOf(results: Reconciled['results']): Reconciled['results'] {
  return Object.fromEntries(Object.entries(results).filter(([, { status }]) => status !== 'unchanged'))
}
