import type { SkillDetail } from '@roost/contracts/skills/library'
import { BadgeList } from '../../ui/badge-list.tsx'
import { Bytes } from '../../ui/bytes.tsx'
import { Card } from '../../ui/card.tsx'
import { KeyValues } from '../../ui/key-values.tsx'

/** The metadata of a skill. */
export function SkillFacts({ skill }: { skill: SkillDetail }) {
  const { packages, binaries, env } = skill.requires
  return (
    <Card aria-label="About this skill" className="flex flex-col gap-3">
      <KeyValues
        items={[
          { label: 'Source', value: skill.source_name },
          { label: 'Folder', value: <code className="break-all text-xs">{skill.path}</code> },
          {
            label: 'Version',
            value: (
              <code className="text-xs" title={skill.version}>
                {skill.version.slice(0, 7)}
              </code>
            ),
          },
          { label: 'Size', value: <Bytes bytes={skill.size_bytes} /> },
          { label: 'As playbook', value: skill.user_invocable ? 'available' : 'not available' },
          skill.argument_hint !== null && {
            label: 'Arguments',
            value: <code className="break-all text-xs">{skill.argument_hint}</code>,
          },
        ]}
      />
      <BadgeList heading="Required programs" names={binaries} />
      <BadgeList heading="Required variables" names={env} />
      <BadgeList heading="Required packages" names={packages} />
      <BadgeList heading="Allowed tools" names={skill.allowed_tools} />
    </Card>
  )
}
