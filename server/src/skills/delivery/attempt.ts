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
  /** The state of the agent's container in the engine; null if it cannot be read. */
  containerNow(agent: Agent): Promise<'running' | 'stopped' | null>
  /** Aborts when the platform stops, and ends the wait for other workers. */
  closing: AbortSignal
}

export type Attempt = (agentId: string, options?: { force?: boolean }) => Promise<Outcome>

const leaseSeconds = 120
/** The pause before the second attempt on a busy agent. */
const retryMs = 3000
/** A container that started within this time may not have connected yet. */
const startingMs = 60_000
const maxRounds = 3

/** The interval of checks for a worker of another process. */
const pollMs = 500

/** A worker of this process; `here` settles with it. */
type BusyHere = { kind: 'busy'; here: Promise<unknown> }

export type Attempts = {
  attempt: Attempt
  /** Tries again if another worker is busy, which may have read older assignments. */
  attemptTwice: Attempt
  /** Tries for up to 20 seconds while another worker is busy, so that the result is newer than the call. */
  attemptAfterOthers: Attempt
}

/** Attempts to synchronize an agent, with one worker at a time per agent. A failure is a result. */
export function createAttempt(deps: AttemptDeps): Attempts {
  const { db, clock, log, leases, agentRecords, link, closing } = deps
  const reconcile = createReconcile(deps)
  /** The agents on which this process works. */
  const working = new Map<string, Promise<Outcome>>()

  async function attempt(agentId: string, options: { force?: boolean } = {}): Promise<Outcome | BusyHere> {
    const agent = await agentRecords.byId(agentId)
    if (!agent || agent.desired === 'stopped') return { kind: 'stopped' }
    // The link counts, because the agent connects before its row has the status running.
    if (!link.isConnected(agentId)) return { kind: await reasonOffline(agent) }
    const here = working.get(agentId)
    if (here) return { kind: 'busy', here }
    const work = withLease(agent, options)
    working.set(agentId, work)
    return work.finally(() => working.delete(agentId))
  }

  async function withLease(agent: Agent, options: { force?: boolean }): Promise<Outcome> {
    const lease = await leases.take(`skills.agent:${agent.id}`, newId(), leaseSeconds)
    if (!lease) return { kind: 'busy' }
    const renewLease = async () => {
      if (!(await leases.renew(lease, leaseSeconds))) throw new LinkDown('Another worker has the agent.')
    }
    try {
      return { kind: 'done', reconciled: await inRounds(agent, { ...options, renewLease }) }
    } catch (error) {
      if (error instanceof LinkDown || error instanceof LinkTimeout) return { kind: 'unreachable' }
      log.warn({ err: error, agent_id: agent.id }, 'skills could not be delivered; the delivery is retried')
      return { kind: error instanceof WorkspaceUnreadable ? 'unreadable' : 'failed' }
    } finally {
      await leases.release(lease)
    }
  }

  async function inRounds(
    agent: Agent,
    options: { force?: boolean; renewLease(): Promise<void> },
  ): Promise<Reconciled> {
    let reconciled = await reconcile(agent, options)
    // Assignments made in the meantime found the agent busy.
    for (let round = 1; round < maxRounds && (await isUnfinished(agent.id)); round += 1) {
      const more = await reconcile(agent, { renewLease: options.renewLease })
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

  async function reasonOffline(agent: Agent): Promise<'stopped' | 'starting' | 'unreachable' | 'unreadable'> {
    if (agent.status !== 'running') return 'stopped'
    const startedAt = agent.started_at === null ? 0 : Date.parse(agent.started_at)
    if (clock.now().getTime() - startedAt < startingMs) return 'starting'
    // The row may be outdated, so the engine is asked.
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
        // Its failure is reported to its own caller.
        if ('here' in outcome) await outcome.here.catch(() => {})
        else await clock.wait(pollMs, closing)
      }
    },
  }
}

/** The results of a later round, without unchanged skills. */
function newsOf(results: Reconciled['results']): Reconciled['results'] {
  return Object.fromEntries(Object.entries(results).filter(([, { status }]) => status !== 'unchanged'))
}
