import type { AssignedSkill } from '@roost/contracts/skills/assignments'
import type { AssignmentsTable } from './tables.ts'

const shortSha = 7

export function toldAssignment(row: AssignmentsTable, isStale: boolean): AssignedSkill {
  const version = row.version?.slice(0, shortSha) ?? null
  const { delivery_status: status, delivered_at: at, error } = row
  return {
    skill_name: row.skill_name,
    assigned_by: row.assigned_by,
    assigned_at: row.assigned_at,
    version,
    source_id: row.source_id,
    source: row.source_name,
    delivery_status: status,
    last_delivery:
      at === null || status === 'pending'
        ? null
        : // Written by the delivery from a list of texts.
          { status, at, version, warnings: JSON.parse(row.warnings) as string[], error },
    stale: isStale,
  }
}

/** What a run is told of the skills that its agent has. */
export function blockOf(rows: readonly AssignmentsTable[]): string | null {
  const delivered = rows.filter(({ version }) => version !== null)
  if (delivered.length === 0) return null
  const lines = delivered.map(({ skill_name, description }) =>
    description ? `- ${skill_name}: ${description.replace(/\s+/g, ' ').slice(0, 300)}` : `- ${skill_name}`,
  )
  const heading =
    'Skills from the platform, each in a folder of .claude/skills with a SKILL.md to read first:'
  return [heading, ...lines].join('\n')
}
