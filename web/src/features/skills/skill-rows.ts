import type { Skill } from '@roost/contracts/skills/library'

export type Holder = { name: string; label: string | null }

/** A library skill with its agents; with `skill: null` an assigned skill without a source. */
export type SkillRow = { name: string; skill: Skill | null; holders: readonly Holder[] }

export function skillRows(
  skills: readonly Skill[],
  assignments: Readonly<Record<string, readonly Holder[]>>,
): SkillRow[] {
  const known = new Set(skills.map(({ name }) => name))
  const stale = Object.entries(assignments).filter(
    ([name, holders]) => !known.has(name) && holders.length > 0,
  )
  return [
    ...skills.map((skill) => ({ name: skill.name, skill, holders: assignments[skill.name] ?? [] })),
    ...stale.map(([name, holders]) => ({ name, skill: null, holders })),
  ].sort((left, right) => left.name.localeCompare(right.name))
}

export type SkillFilter = { q?: string | undefined; source?: string | undefined; held?: string | undefined }

/** Every word must match. `held`: `held` (assigned), `shadowing` or `stale`. */
export function filterSkills(rows: readonly SkillRow[], { q, source, held }: SkillFilter): SkillRow[] {
  const words = (q ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  return rows.filter(({ name, skill, holders }) => {
    if (source !== undefined && skill?.source_name !== source) return false
    if (held === 'held' && holders.length === 0) return false
    if (held === 'stale' && skill !== null) return false
    if (held === 'shadowing' && (skill === null || skill.shadowed_by.length === 0)) return false
    const text = [name, skill?.description, skill?.source_name, ...holders.map((each) => each.name)]
    return words.every((word) => text.join(' ').toLowerCase().includes(word))
  })
}
