import type { SkillResult } from '@roost/contracts/skills/assignments'
import type { Directory } from '../../agents/directory/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { Leases } from '../../foundation/leases/index.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import { type AgentLink, LinkDown, LinkTimeout } from '../../ports/agent-link/port.ts'
import type { Log } from '../../ports/log.ts'
import { assignmentStore, type Deliver } from '../assignments/index.ts'
import { createReconcile, type ReconcileDeps, type Reconciled } from './reconcile.ts'
import { deferred, deliveryOf, deliveryWaitSeconds, removalOf, undelivered } from './rules.ts'

export type DeliveryDeps = ReconcileDeps & {
  log: Pick<Log, 'debug' | 'warn'>
  leases: Pick<Leases, 'take' | 'renew' | 'release'>
  directory: Pick<Directory, 'byId'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
}

export type Injected = {
  success: boolean
  skills_injected: number
  skills_failed: number
  skills_skipped: number
  results: Record<string, SkillResult>
}

export type Delivery = {
  deliver: Deliver
  /** Throws `agent_stopped`, `agent_unresponsive`, `injection_in_progress`. */
  inject(agentId: string, force: boolean): Promise<Injected>
  /** Brings an agent in line when it greets; what hinders it is tried again. */
  greeted(agentId: string): void
  loops: Loop[]
  /** Resolves when nothing is on its way any more; call before the database closes. */
  settled(): Promise<void>
}

const leaseSeconds = 120
/** An assign on an agent that is being brought in line is tried once more after this. */
const retryMs = 3000
/** A container that was started a moment ago dials in within seconds. */
const startingMs = 60_000
const mostRounds = 3

type Outcome =
  | { kind: 'done'; reconciled: Reconciled }
  | { kind: 'busy' | 'stopped' | 'starting' | 'unreachable' | 'failed' }

/** Brings skills to agents, to each by one worker at a time. */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const { db, clock, log, leases, directory, link } = deps
  const reconcile = createReconcile(deps)
  const working = new Set<Promise<unknown>>()

  async function attempt(agentId: string, options: { force?: boolean } = {}): Promise<Outcome> {
    const agent = await directory.byId(agentId)
    if (agent?.status !== 'running' || agent.desired === 'stopped') return { kind: 'stopped' }
    if (!link.isConnected(agentId)) {
      const startedAt = agent.started_at === null ? 0 : Date.parse(agent.started_at)
      return { kind: clock.now().getTime() - startedAt < startingMs ? 'starting' : 'unreachable' }
    }
    const lease = await leases.take(`skills.agent:${agentId}`, newId(), leaseSeconds)
    if (!lease) return { kind: 'busy' }
    const keepHold = async () => {
      if (!(await leases.renew(lease, leaseSeconds))) throw new LinkDown('Another worker has the agent.')
    }
    try {
      let reconciled = await reconcile(agent, { ...options, keepHold })
      // What was assigned meanwhile found the agent held.
      for (let round = 1; round < mostRounds && (await isUnfinished(agentId)); round += 1) {
        const more = await reconcile(agent, { keepHold })
        reconciled = {
          results: { ...reconciled.results, ...newsOf(more.results) },
          removals: { ...reconciled.removals, ...more.removals },
        }
      }
      return { kind: 'done', reconciled }
    } catch (error) {
      if (error instanceof LinkDown || error instanceof LinkTimeout) return { kind: 'unreachable' }
      log.warn({ err: error, agent_id: agentId }, 'skills could not be delivered; it is tried again')
      return { kind: 'failed' }
    } finally {
      await leases.release(lease)
    }
  }

  async function isUnfinished(agentId: string): Promise<boolean> {
    const store = assignmentStore(db)
    const rows = await store.of(agentId)
    if (rows.some(({ delivery_status }) => delivery_status === 'pending')) return true
    return (await store.removals(agentId)).length > 0
  }

  /** Once more when somebody else is at it: that one may have read what was assigned before. */
  async function attemptTwice(agentId: string): Promise<Outcome> {
    const first = await attempt(agentId)
    if (first.kind !== 'busy') return first
    await clock.wait(retryMs)
    return attempt(agentId)
  }

  function track<T>(work: Promise<T>): Promise<T> {
    const settled = work.catch(() => {}).finally(() => working.delete(settled))
    working.add(settled)
    return work
  }

  async function inTime<T>(work: Promise<T>): Promise<T | null> {
    const ended = new AbortController()
    try {
      return await Promise.race([work, clock.wait(deliveryWaitSeconds * 1000, ended.signal).then(() => null)])
    } finally {
      ended.abort()
    }
  }

  const inBackground = (agentId: string) =>
    void track(attempt(agentId)).catch((error: unknown) =>
      log.warn({ err: error, agent_id: agentId }, 'skills could not be delivered; it is tried again'),
    )

  return {
    async deliver(agentId, { added, dropped }) {
      const outcome = await inTime(track(attemptTwice(agentId)))
      const told = toldOf(outcome, added)
      return { delivery: told, removal: dropped.length === 0 ? null : toldRemoval(outcome, dropped) }
    },

    async inject(agentId, force) {
      const outcome = await track(attempt(agentId, { force }))
      switch (outcome.kind) {
        case 'stopped':
          throw new Fault('agent_stopped')
        case 'busy':
          throw new Fault('injection_in_progress')
        case 'starting':
        case 'unreachable':
        case 'failed':
          throw new Fault('agent_unresponsive')
        case 'done':
          return injectedOf(outcome.reconciled)
      }
    },

    greeted: inBackground,

    loops: [
      {
        name: 'skills.unfinished',
        everySeconds: 60,
        deadlineSeconds: 300,
        async run(signal) {
          for (const agentId of await assignmentStore(db).unfinished()) {
            if (signal.aborted) return
            await track(attempt(agentId))
          }
        },
      },
    ],

    async settled() {
      while (working.size > 0) await Promise.all(working)
    },
  }
}

/** What a later round found as it was says nothing new. */
function newsOf(results: Reconciled['results']): Reconciled['results'] {
  return Object.fromEntries(Object.entries(results).filter(([, { status }]) => status !== 'unchanged'))
}

function toldOf(outcome: Outcome | null, added: readonly string[]) {
  switch (outcome?.kind) {
    case undefined:
      return undelivered('in_progress')
    case 'stopped':
      return undelivered('pending_start', 'agent_stopped')
    case 'starting':
      return undelivered('not_delivered', 'agent_starting')
    case 'unreachable':
      return undelivered('not_delivered', 'agent_unreachable')
    case 'busy':
      return undelivered('not_delivered', 'injection_in_progress')
    case 'failed':
      return undelivered('not_delivered', 'install_failed')
    case 'done':
      return deliveryOf(outcome.reconciled.results, added)
  }
}

function toldRemoval(outcome: Outcome | null, dropped: readonly string[]) {
  switch (outcome?.kind) {
    case undefined:
    case 'busy':
      return deferred('injection_in_progress', dropped)
    case 'stopped':
      return deferred('agent_stopped', dropped)
    case 'starting':
    case 'unreachable':
      return deferred('agent_unreachable', dropped)
    case 'failed':
      return deferred('removal_error', dropped)
    case 'done':
      return removalOf(outcome.reconciled.removals, dropped)
  }
}

function injectedOf({ results }: Reconciled): Injected {
  const count = (...statuses: SkillResult['status'][]) =>
    Object.values(results).filter(({ status }) => statuses.includes(status)).length
  const skills_failed = count('failed', 'conflict')
  return {
    success: skills_failed === 0,
    skills_injected: count('injected'),
    skills_failed,
    skills_skipped: count('unchanged'),
    results,
  }
}
