import type { SkillDelivery, SkillRemoval, SkillResult } from '@roost/contracts/skills/assignments'

export const maxInjectionBytes = 50 * 1024 * 1024
/** The time that a caller waits for a delivery. */
export const deliveryWaitSeconds = 20

export type Present = { name: string; managed: boolean; version: string | null }
type Desired = { name: string; version: string }

export type Plan = {
  install: string[]
  unchanged: string[]
  /** The agent has a folder of its own of this name. */
  conflict: string[]
  remove: string[]
  /** Unrequested removals that are refused because there are too many. */
  refused: string[]
}

/**
 * Plans the changes from the present to the desired skills. `stale` are assigned skills that no source has;
 * they stay. `released` are removals that a caller requested; others are unexpected.
 */
export function planDelivery(options: {
  present: readonly Present[]
  desired: readonly Desired[]
  stale: ReadonlySet<string>
  released: ReadonlySet<string>
  force: boolean
}): Plan {
  const { present, desired, stale, released, force } = options
  const byName = new Map(present.map((skill) => [skill.name, skill]))
  const plan: Plan = { install: [], unchanged: [], conflict: [], remove: [], refused: [] }
  for (const { name, version } of desired) {
    const existing = byName.get(name)
    if (existing && !existing.managed) plan.conflict.push(name)
    else if (existing?.version === version && !force) plan.unchanged.push(name)
    else plan.install.push(name)
  }
  const assigned = new Set([...desired.map(({ name }) => name), ...stale])
  const managed = present.filter((skill) => skill.managed)
  const unassigned = managed.map(({ name }) => name).filter((name) => !assigned.has(name))
  const unexpected = unassigned.filter((name) => !released.has(name))
  const isTooMuch = unexpected.length > 5 && unexpected.length > managed.length / 2
  plan.remove = isTooMuch ? unassigned.filter((name) => released.has(name)) : unassigned
  plan.refused = isTooMuch ? unexpected : []
  return plan
}

export function undelivered(
  status: 'pending_start' | 'in_progress' | 'not_delivered',
  reason: SkillDelivery['reason'] = null,
): SkillDelivery {
  return { status, reason, skills_injected: 0, skills_failed: 0, results: {} }
}

export const staleMessage = 'The library has no skill of this name any more.'

/** `added` became `stale` when its source was removed between the assignment and the delivery. */
export function deliveryOf(
  results: Readonly<Record<string, SkillResult>>,
  added: readonly string[],
  stale: readonly string[] = [],
): SkillDelivery {
  const own = Object.fromEntries(
    added.flatMap((name) => {
      const result = results[name] ?? (stale.includes(name) ? staleResult : null)
      return result ? [[name, result]] : []
    }),
  )
  const all = Object.values(own)
  const failed = all.filter(({ status }) => status === 'failed' || status === 'conflict').length
  const isWhole = failed === 0 && all.length === added.length
  return {
    status: isWhole ? 'injected' : 'not_delivered',
    reason: isWhole ? null : 'install_failed',
    skills_injected: all.filter(({ status }) => status === 'injected').length,
    skills_failed: failed,
    results: own,
  }
}

const staleResult: SkillResult = { status: 'failed', version: null, warnings: [], error: staleMessage }

export type RemovalResults = SkillRemoval['results']

export function removalOf(results: Readonly<RemovalResults>, dropped: readonly string[]): SkillRemoval {
  const own: RemovalResults = Object.fromEntries(
    dropped.map((name) => [name, results[name] ?? { status: 'absent', error: null }]),
  )
  const failed = Object.values(own).filter(({ status }) => status === 'failed').length
  return {
    status: failed === 0 ? 'completed' : 'partial',
    reason: null,
    skills: dropped.filter((name) => own[name]?.status === 'failed'),
    skills_removed: dropped.length - failed,
    skills_failed: failed,
    results: own,
  }
}

export function deferred(
  reason: NonNullable<SkillRemoval['reason']>,
  dropped: readonly string[],
): SkillRemoval {
  return {
    status: 'deferred',
    reason,
    skills: [...dropped],
    skills_removed: 0,
    skills_failed: 0,
    results: {},
  }
}
