import type { SkillDelivery, SkillRemoval, SkillResult } from '@roost/contracts/skills/assignments'

export const maxInjectionBytes = 50 * 1024 * 1024
/** How long a caller waits for files to reach an agent. */
export const deliveryWaitSeconds = 20

export type Present = { name: string; managed: boolean; version: string | null }
type Wanted = { name: string; version: string }

export type Plan = {
  install: string[]
  unchanged: string[]
  /** The agent has a folder of its own of this name. */
  conflict: string[]
  remove: string[]
  /** So much would go that nobody has asked for that nothing of it does. */
  refused: string[]
}

/**
 * From what the workspace has to what it should have. `kept` are assigned skills that no source has any more: they
 * stay. `released` are those that somebody took from the agent; others to be removed are a surprise.
 */
export function planDelivery(options: {
  present: readonly Present[]
  wanted: readonly Wanted[]
  kept: ReadonlySet<string>
  released: ReadonlySet<string>
  force: boolean
}): Plan {
  const { present, wanted, kept, released, force } = options
  const byName = new Map(present.map((skill) => [skill.name, skill]))
  const plan: Plan = { install: [], unchanged: [], conflict: [], remove: [], refused: [] }
  for (const { name, version } of wanted) {
    const there = byName.get(name)
    if (there && !there.managed) plan.conflict.push(name)
    else if (there?.version === version && !force) plan.unchanged.push(name)
    else plan.install.push(name)
  }
  const assigned = new Set([...wanted.map(({ name }) => name), ...kept])
  const managed = present.filter((skill) => skill.managed)
  const gone = managed.map(({ name }) => name).filter((name) => !assigned.has(name))
  const surprises = gone.filter((name) => !released.has(name))
  const isTooMuch = surprises.length > 5 && surprises.length > managed.length / 2
  plan.remove = isTooMuch ? gone.filter((name) => released.has(name)) : gone
  plan.refused = isTooMuch ? surprises : []
  return plan
}

export function undelivered(
  status: 'pending_start' | 'in_progress' | 'not_delivered',
  reason: SkillDelivery['reason'] = null,
): SkillDelivery {
  return { status, reason, skills_injected: 0, skills_failed: 0, results: {} }
}

export const staleWords = 'The library has no skill of this name any more.'

/** `added` became `stale` when its source was removed between the assignment and the delivery. */
export function deliveryOf(
  results: Readonly<Record<string, SkillResult>>,
  added: readonly string[],
  stale: readonly string[] = [],
): SkillDelivery {
  const told = Object.fromEntries(
    added.flatMap((name) => {
      const result = results[name] ?? (stale.includes(name) ? staleResult : null)
      return result ? [[name, result]] : []
    }),
  )
  const all = Object.values(told)
  const failed = all.filter(({ status }) => status === 'failed' || status === 'conflict').length
  const isWhole = failed === 0 && all.length === added.length
  return {
    status: isWhole ? 'injected' : 'not_delivered',
    reason: isWhole ? null : 'install_failed',
    skills_injected: all.filter(({ status }) => status === 'injected').length,
    skills_failed: failed,
    results: told,
  }
}

const staleResult: SkillResult = { status: 'failed', version: null, warnings: [], error: staleWords }

export type RemovalResults = SkillRemoval['results']

export function removalOf(results: Readonly<RemovalResults>, dropped: readonly string[]): SkillRemoval {
  const told: RemovalResults = Object.fromEntries(
    dropped.map((name) => [name, results[name] ?? { status: 'absent', error: null }]),
  )
  const failed = Object.values(told).filter(({ status }) => status === 'failed').length
  return {
    status: failed === 0 ? 'completed' : 'partial',
    reason: null,
    skills: dropped.filter((name) => told[name]?.status === 'failed'),
    skills_removed: dropped.length - failed,
    skills_failed: failed,
    results: told,
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
