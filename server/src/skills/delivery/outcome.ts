import type { SkillDelivery, SkillRemoval, SkillResult } from '@roost/contracts/skills/assignments'
import type { Reconciled } from './reconcile.ts'
import { deferred, deliveryOf, removalOf, undelivered } from './rules.ts'

/**
 * The outcome of an attempt to synchronize an agent.
 * - `busy`: another worker has the agent.
 * - `starting`: its container has just started and has not connected.
 * - `unreachable`: its container runs and does not answer.
 * - `unreadable`: the state of its container or workspace cannot be read.
 */
export type Outcome =
  | { kind: 'done'; reconciled: Reconciled }
  | { kind: 'busy' | 'stopped' | 'starting' | 'unreachable' | 'unreadable' | 'failed' }

export type Injected = {
  success: boolean
  skills_injected: number
  skills_failed: number
  skills_skipped: number
  results: Record<string, SkillResult>
}

/** `outcome` is null while the delivery continues in the background. */
export function deliveryViewOf(outcome: Outcome | null, added: readonly string[]): SkillDelivery {
  switch (outcome?.kind) {
    case undefined:
      return undelivered('in_progress')
    case 'stopped':
      return undelivered('pending_start', 'agent_stopped')
    case 'starting':
      return undelivered('not_delivered', 'agent_starting')
    case 'unreachable':
      return undelivered('not_delivered', 'agent_unreachable')
    case 'unreadable':
      return undelivered('not_delivered', 'container_state_unreadable')
    case 'busy':
      return undelivered('not_delivered', 'injection_in_progress')
    case 'failed':
      return undelivered('not_delivered', 'install_failed')
    case 'done':
      return deliveryOf(outcome.reconciled.results, added, outcome.reconciled.stale)
  }
}

export function removalViewOf(outcome: Outcome | null, dropped: readonly string[]): SkillRemoval {
  switch (outcome?.kind) {
    case undefined:
    case 'busy':
      return deferred('injection_in_progress', dropped)
    case 'stopped':
      return deferred('agent_stopped', dropped)
    case 'starting':
    case 'unreachable':
      return deferred('agent_unreachable', dropped)
    case 'unreadable':
    case 'failed':
      return deferred('removal_error', dropped)
    case 'done':
      return removalOf(outcome.reconciled.removals, dropped)
  }
}

export function injectedOf({ results }: Reconciled): Injected {
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
